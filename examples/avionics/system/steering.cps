// How the components behave, as far as correlation depends on it.

component Pilot {
  modes navigating, attacking, landing;
  in attacking, landing: do push navigate goto navigating;
  in navigating, landing: do push attack goto attacking;
  in navigating, attacking: do push land goto landing;
}

component Display {
  modes shown, waiting;
  in shown, waiting: on mode do goto shown;
  in shown, waiting: on choice do goto waiting;
}
