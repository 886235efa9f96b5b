// The correlations of the .cor files in ECL, the language the paper compares itself with. An output of ECL is made of the
// event that completes the expression, so b can be sent on only where it comes last.

define tick = <source = "Timer.hz1">;
define frame = <source = "AirFrame.out1">;
define nav = <source = "NavSteering.out1">;
define tactical = <source = "TacticalSteering.out1">;
define gps = <source = "GPS.out1">;
define ins = <source = "INS.out1">;
define fix = <source = "Navigator.out1">;
define alarm = <source = "GPS.alarm">;
define s1 = <source = "AirData1.out1">;
define s2 = <source = "AirData2.out1">;
define s3 = <source = "AirData3.out1">;
define s4 = <source = "AirData4.out1">;

// Each event is sent on when it comes, for at the end only one of the two could be: the first INS report of a round goes
// out, not the last.
subscribe EclBundle {repeat {accumulate {push(*) {ins}, push(*) {frame}}}}

subscribe EclAfterTimeout {repeat {push(Notification {}) {sequential {tick, DataAvailable}}}}

// Every part finishes the event before select decides, so a double match pushes twice.
subscribe EclDoubleMatchBoth {
  repeat {select {
    push(Nav {}) {accumulate {frame, nav}},
    push(Tactical {}) {accumulate {frame, tactical}}}}}

// With nav there, frame completes the preferred pair anyway; so nav alone rules the other pair out.
subscribe EclDoubleMatchPreferred {
  repeat {select {
    push(Nav {}) {accumulate {frame, nav}},
    push(Tactical {}) {do {accumulate {frame, tactical}} unless {nav}}}}}

subscribe EclDoubleMatchNotify {repeat {push(Notification {}) {accumulate {frame, select {nav, tactical}}}}}

subscribe EclUndisturbed {repeat {push(*) {do {sequential {tick, fix}} unless {alarm}}}}

// When both sides complete at once, do-unless succeeds.
subscribe EclAnyFix {repeat {push(*) {do {sequential {tick, fix}} unless {sequential {alarm, fix}}}}}

// To lose the tie, the sides change places and the outcome is turned round.
subscribe EclTrustedFix {
  repeat {select {
    push(*) {fail {do {sequential {alarm, fix}} unless {sequential {tick, fix}}}},
    push(Alarm {}) {sequential {alarm, fix}}}}}

// Here the event that comes last is just the one that is wanted.
subscribe EclMostRecent {repeat {select {push(*) {sequential {gps, ins}}, push(*) {sequential {ins, gps}}}}}

// One mode for each set of sensors that can be valid: 16 for four of them. A mode starts afresh, so what the others had
// sent before one was dropped is lost, which the labels of redundant_sensors.cor keep.
subscribe EclRedundantSensors {
  in (<valid = 15>) do {repeat {push(DataAvailable {}) {accumulate {s1, s2, s3, s4}}}}
  in (<valid = 14>) do {repeat {push(DataAvailable {}) {accumulate {s2, s3, s4}}}}
  in (<valid = 13>) do {repeat {push(DataAvailable {}) {accumulate {s1, s3, s4}}}}
  in (<valid = 12>) do {repeat {push(DataAvailable {}) {accumulate {s3, s4}}}}
  in (<valid = 11>) do {repeat {push(DataAvailable {}) {accumulate {s1, s2, s4}}}}
  in (<valid = 10>) do {repeat {push(DataAvailable {}) {accumulate {s2, s4}}}}
  in (<valid = 9>) do {repeat {push(DataAvailable {}) {accumulate {s1, s4}}}}
  in (<valid = 8>) do {repeat {push(DataAvailable {}) {accumulate {s4}}}}
  in (<valid = 7>) do {repeat {push(DataAvailable {}) {accumulate {s1, s2, s3}}}}
  in (<valid = 6>) do {repeat {push(DataAvailable {}) {accumulate {s2, s3}}}}
  in (<valid = 5>) do {repeat {push(DataAvailable {}) {accumulate {s1, s3}}}}
  in (<valid = 4>) do {repeat {push(DataAvailable {}) {accumulate {s3}}}}
  in (<valid = 3>) do {repeat {push(DataAvailable {}) {accumulate {s1, s2}}}}
  in (<valid = 2>) do {repeat {push(DataAvailable {}) {accumulate {s2}}}}
  in (<valid = 1>) do {repeat {push(DataAvailable {}) {accumulate {s1}}}}
  in (<valid = 0>) do {false}
}

subscribe EclModalSteering {
  in (<source = "Pilot.navigate">) do {repeat {push(Nav {}) {accumulate {frame, nav}}}}
  in (<source = "Pilot.tactical">) do {repeat {push(Tactical {}) {accumulate {frame, tactical}}}}
  in (<source = "Pilot.land">) do {repeat {push(*) {sequential {frame, fix}}}}
}
