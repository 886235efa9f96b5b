"""What a worker runs: programs as flat arrays, kernels, and the shell of Arrow around them. It knows no pattern."""
