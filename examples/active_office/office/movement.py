"""How people move: a Markov process with one matrix per class of people and interval of the day.

Once a minute each person stays or goes to another room. The chances are ours, since the paper gives none.
They are written as habits, a few numbers each, from which the 9 x 9 matrices are computed:

- ``leaves_*`` is the chance to leave a room in one minute: the own office, another office, a meeting room;
- ``likes_*`` is the weight of one such room when the next one is chosen.

The intervals are desk work, four hours for meetings, and a break or lunch after each. Breaks empty the
meeting rooms within a few minutes: that is what ends a meeting, although nobody in the model plans one.

Paper: Composite Event Detection as a Generic Middleware Extension, "Evaluation and Results".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from office.plan import HOME_OFFICE, MEETING_ROOMS, OFFICES, PEOPLE, RESIDENTS, ROOMS, SECOND, VISITORS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Habit(NamedTuple):
    """What one class of people does in one kind of interval."""

    leaves_own: float
    leaves_office: float
    leaves_meeting: float
    likes_own: float
    likes_office: float
    likes_meeting: float


RESIDENT_HABITS = {
    "work": Habit(0.015, 0.10, 0.06, likes_own=10, likes_office=0.3, likes_meeting=0.15),
    "meetings": Habit(0.060, 0.15, 0.01, likes_own=2, likes_office=0.1, likes_meeting=2),
    "break": Habit(0.010, 0.10, 0.50, likes_own=10, likes_office=0.3, likes_meeting=0.1),
    "lunch": Habit(0.030, 0.06, 0.40, likes_own=5, likes_office=1, likes_meeting=0.3),
}
# A visitor has no own office: all six are alike.
VISITOR_HABITS = {
    "work": Habit(0.15, 0.15, 0.02, likes_own=0.2, likes_office=0.2, likes_meeting=3),
    "meetings": Habit(0.20, 0.20, 0.01, likes_own=0.1, likes_office=0.1, likes_meeting=3),
    "break": Habit(0.06, 0.06, 0.40, likes_own=1, likes_office=1, likes_meeting=0.5),
    "lunch": Habit(0.05, 0.05, 0.15, likes_own=1, likes_office=1, likes_meeting=1),
}
TIMETABLE = (
    ("08:00", "work"),
    ("09:00", "meetings"),
    ("10:00", "break"),
    ("10:15", "work"),
    ("11:00", "meetings"),
    ("12:00", "lunch"),
    ("13:00", "work"),
    ("13:30", "meetings"),
    ("14:30", "break"),
    ("14:45", "work"),
    ("15:30", "meetings"),
    ("16:30", "break"),
    ("16:45", "work"),
)

_OFFICE_COUNT = len(OFFICES)
HOME = np.array([OFFICES.index(HOME_OFFICE.get(name, OFFICES[0])) for name in PEOPLE])
"""The own office of each person; what stands there for a visitor makes no difference."""
_CLASS = np.array([0] * len(RESIDENTS) + [1] * len(VISITORS))


def interval_of(minute: int) -> str:
    """Name the kind of interval a minute of the day lies in.

    >>> interval_of(0), interval_of(60), interval_of(599)
    ('work', 'meetings', 'work')
    """
    clock = f"{8 + minute // 60:02}:{minute % 60:02}"
    return [kind for start, kind in TIMETABLE if start <= clock][-1]


def transition_matrix(habit: Habit) -> Floats:
    """Turn a habit into the matrix of moves in one minute, one row for each room someone is in.

    Offices are counted from the person's own one: room 0 is the own office of whoever moves. So all
    residents share one matrix although their offices differ.

    >>> matrix = transition_matrix(RESIDENT_HABITS["work"])
    >>> matrix.shape, float(matrix[0, 0]), bool(np.allclose(matrix.sum(axis=1), 1))
    ((9, 9), 0.985, True)
    """
    per_kind = (1, _OFFICE_COUNT - 1, len(MEETING_ROOMS))
    leaves = np.repeat([habit.leaves_own, habit.leaves_office, habit.leaves_meeting], per_kind)
    likes = np.repeat([habit.likes_own, habit.likes_office, habit.likes_meeting], per_kind)
    elsewhere = np.tile(likes, (len(ROOMS), 1))
    np.fill_diagonal(elsewhere, 0)
    matrix: Floats = leaves[:, None] * elsewhere / elsewhere.sum(axis=1, keepdims=True)
    np.fill_diagonal(matrix, 1 - leaves)
    return matrix


class Moves(NamedTuple):
    """One minute of movement; every array has one row per floor and one column per person."""

    before: Ints
    after: Ints
    leaves_at: Ints  # milliseconds into the minute
    arrives_at: Ints


class People:
    """Everybody in the building, and the room each is in."""

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        """Start the day: residents are in their offices, visitors in some meeting room."""
        self._rng = rng
        self._room = np.tile(HOME, (floors, 1))
        self._room[:, len(RESIDENTS) :] = rng.integers(_OFFICE_COUNT, len(ROOMS), (floors, len(VISITORS)))
        self._chances = {
            kind: np.stack([_cumulated(RESIDENT_HABITS[kind]), _cumulated(VISITOR_HABITS[kind])])
            for kind in RESIDENT_HABITS
        }

    def step(self, minute: int) -> Moves:
        """Move everybody by one minute."""
        before = self._room
        relative = np.where(before < _OFFICE_COUNT, (before - HOME) % _OFFICE_COUNT, before)
        chances = self._chances[interval_of(minute)][_CLASS, relative]
        chosen = (self._rng.random((*before.shape, 1)) >= chances).sum(axis=2)
        self._room = np.where(chosen < _OFFICE_COUNT, (chosen + HOME) % _OFFICE_COUNT, chosen)
        # Leaving, walking and the closing of the door all fit into the minute, so the next one starts clean.
        leaves_at = self._rng.integers(0, 30 * SECOND, before.shape)
        walk = self._rng.integers(5 * SECOND, 20 * SECOND, before.shape)
        return Moves(before, self._room, leaves_at, leaves_at + walk)


def _cumulated(habit: Habit) -> Floats:
    """Cumulative sums of each row of the matrix; the last one is left out, being 1 up to rounding."""
    return transition_matrix(habit).cumsum(axis=1)[:, :-1]
