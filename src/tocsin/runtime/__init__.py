"""The code that workers run: programs as flat arrays, kernels, and the Arrow code around them. It knows no patterns."""
