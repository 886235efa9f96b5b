"""The parts of a C file that are the same for every machine."""

from __future__ import annotations

HEAD = """\
/* @TITLE@

   Written by Tocsin; it needs C99 and nothing but the standard library.

   An event is a list of fields, `type` among them; a missing field is simply not there. `tocsin_start` sets a state to the
   first one, `tocsin_feed` takes an event and gives each output to a function, and `tocsin_status` says whether the
   whole is running, or how it completed. No memory is allocated, and states are independent of each other.

   Compiled with -DTOCSIN_PROGRAM it is a program: it reads events from standard input, a flat JSON object a line, and prints
   what they bring in the same way. Whole numbers have 64 bits; larger ones are read as floating-point numbers. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TOCSIN_ABSENT, TOCSIN_TRUTH, TOCSIN_WHOLE, TOCSIN_FRACTION, TOCSIN_TEXT };
enum { TOCSIN_CONSTANT, TOCSIN_EVENT };

typedef struct {
    int kind;
    int64_t whole;      /* of a whole number, and 0 or 1 of a truth value */
    double fraction;
    const char *text;   /* UTF-8 */
    size_t length;
} tocsin_value;

typedef struct {
    const char *name;
    tocsin_value value;
} tocsin_field;

typedef struct {
    const tocsin_field *fields;
    size_t count;
} tocsin_event;

typedef struct {
    const char *to;         /* the subscription */
    int what;               /* TOCSIN_CONSTANT or TOCSIN_EVENT */
    tocsin_value constant;
    tocsin_event event;     /* as long as the call lasts */
} tocsin_output;

typedef void (*tocsin_sink)(void *context, const tocsin_output *output);

typedef struct {
    uint8_t active[@STATES@];
} tocsin_state;

void tocsin_start(tocsin_state *state);
const char *tocsin_status(const tocsin_state *state);
void tocsin_feed(tocsin_state *state, const tocsin_event *event, tocsin_sink sink, void *context);
"""

BODY = """
static inline tocsin_value tocsin_number(int kind, int64_t whole, double fraction)
{
    tocsin_value value = {0, 0, 0, NULL, 0};
    value.kind = kind;
    value.whole = whole;
    value.fraction = fraction;
    return value;
}

static inline tocsin_value tocsin_truth(int truth) { return tocsin_number(TOCSIN_TRUTH, truth, 0); }
static inline tocsin_value tocsin_whole(int64_t whole) { return tocsin_number(TOCSIN_WHOLE, whole, 0); }
static inline tocsin_value tocsin_fraction(double fraction) { return tocsin_number(TOCSIN_FRACTION, 0, fraction); }

static inline tocsin_value tocsin_text(const char *text, size_t length)
{
    tocsin_value value = tocsin_number(TOCSIN_TEXT, 0, 0);
    value.text = text;
    value.length = length;
    return value;
}

static inline tocsin_value find(const tocsin_event *event, const char *name)
{
    for (size_t i = event->count; i-- > 0;)
        if (strcmp(event->fields[i].name, name) == 0)
            return event->fields[i].value;
    return tocsin_number(TOCSIN_ABSENT, 0, 0);
}

static inline int order(double left, double right)
{
    if (isnan(left) || isnan(right)) /* what is no number equals itself and is greater than every number */
        return (isnan(left) != 0) - (isnan(right) != 0);
    return (left > right) - (left < right);
}

static inline int beside(int64_t whole, double fraction)
{
    /* Without rounding: a large whole number lies between two floating-point numbers. */
    if (isnan(fraction) || fraction >= 9223372036854775808.0)
        return -1;
    if (fraction < -9223372036854775808.0)
        return 1;
    int64_t cut = (int64_t)fraction;
    return whole != cut ? (whole > cut) - (whole < cut) : order((double)cut, fraction);
}

static inline int is_number(tocsin_value value) { return value.kind == TOCSIN_WHOLE || value.kind == TOCSIN_FRACTION; }

static inline int sign_of(tocsin_value left, tocsin_value right)
{
    if (left.kind == TOCSIN_TEXT) {
        size_t shorter = left.length < right.length ? left.length : right.length;
        int sign = shorter == 0 ? 0 : memcmp(left.text, right.text, shorter);
        return sign != 0 ? sign : (left.length > right.length) - (left.length < right.length);
    }
    if (left.kind == TOCSIN_FRACTION)
        return right.kind == TOCSIN_FRACTION ? order(left.fraction, right.fraction) : -beside(right.whole, left.fraction);
    if (right.kind == TOCSIN_FRACTION)
        return beside(left.whole, right.fraction);
    return (left.whole > right.whole) - (left.whole < right.whole);
}

static inline int comparable(const tocsin_event *event, const char *name, tocsin_value value, int *sign)
{
    tocsin_value field = find(event, name);
    int alike = field.kind == value.kind || (is_number(field) && is_number(value));
    if (!alike || field.kind == TOCSIN_ABSENT)
        return 0;
    *sign = sign_of(field, value);
    return 1;
}

static inline int differs(const tocsin_event *event, const char *name, tocsin_value value)
{
    int sign = 0;
    if (find(event, name).kind == TOCSIN_ABSENT || value.kind == TOCSIN_ABSENT)
        return 0;
    return !comparable(event, name, value, &sign) || sign != 0;
}

static void ask(const tocsin_event *event, uint8_t *satisfied);
static void send(int32_t number, const tocsin_event *event, tocsin_sink sink, void *context);

static int ready(const tocsin_state *state, int32_t number)
{
    for (int32_t set = SETS_OF[number]; set < SETS_OF[number + 1]; set++) {
        int found = 0;
        for (int32_t i = STATES_OF[set]; i < STATES_OF[set + 1] && !found; i++)
            found = state->active[ENABLE[i]];
        if (!found)
            return 0;
    }
    return 1;
}

static int step(tocsin_state *state, const uint8_t *satisfied, const tocsin_event *event, tocsin_sink sink, void *context)
{
    uint8_t ahead[TRANSITIONS + 1], fires[TRANSITIONS + 1];
    int any = 0;
    for (int32_t n = 0; n < TRANSITIONS; n++) {
        int taken = TAKES[n] < 0 ? satisfied == NULL : satisfied != NULL && satisfied[TAKES[n]];
        int enabled = taken && ready(state, n), held_back = 0;
        for (int32_t i = BEFORE_OF[n]; i < BEFORE_OF[n + 1] && !held_back; i++)
            held_back = ahead[BEFORE[i]];
        ahead[n] = (uint8_t)(enabled || held_back);
        fires[n] = (uint8_t)(enabled && !held_back);
        any |= enabled;
    }
    if (!any)
        return 0;
    for (int32_t n = 0; n < TRANSITIONS; n++)
        for (int32_t i = CLEAR_OF[n]; fires[n] && i < CLEAR_OF[n + 1]; i++)
            state->active[CLEAR[i]] = 0;
    for (int32_t n = 0; n < TRANSITIONS; n++)
        for (int32_t i = TARGET_OF[n]; fires[n] && i < TARGET_OF[n + 1]; i++)
            state->active[TARGET[i]] = 1;
    for (int32_t n = 0; n < OUTPUTS; n++)
        if (fires[BRINGS[n]])
            send(n, event, sink, context);
    return 1;
}

void tocsin_start(tocsin_state *state)
{
    memset(state, 0, sizeof *state);
    for (int32_t i = 0; i < STARTING; i++)
        state->active[START[i]] = 1;
}

const char *tocsin_status(const tocsin_state *state)
{
    const int32_t success = SUCCESS, failure = FAILURE;
    if (success >= 0 && state->active[success])
        return "success";
    return failure >= 0 && state->active[failure] ? "failure" : "running";
}

void tocsin_feed(tocsin_state *state, const tocsin_event *event, tocsin_sink sink, void *context)
{
    uint8_t satisfied[PREDICATES + 1];
    ask(event, satisfied);
    if (step(state, satisfied, event, sink, context))
        while (step(state, NULL, event, sink, context))
            ; /* internal steps, until there is none */
}
"""

PROGRAM = r"""#ifdef TOCSIN_PROGRAM

#include <stdio.h>
#include <stdlib.h>

enum { MOST_FIELDS = 1000 };

static void refuse(const char *reason)
{
    fprintf(stderr, "an event is a JSON object of plain values, on a line of its own: %s\n", reason);
    exit(2);
}

static char *blank(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

static unsigned hexadecimal(const char *at)
{
    unsigned found = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF", *digit = at[i] ? strchr(digits, at[i]) : NULL;
        if (digit == NULL)
            refuse("a \\u without four digits");
        found = found * 16 + (unsigned)((digit - digits) % 16);
    }
    return found;
}

static char *encode(char *to, unsigned point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(first[more] | point >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (point >> 6 * more & 0x3F));
    return to;
}

/* Reads a text in place, where it is never longer than it was written. */
static char *text(char *at, const char **found, size_t *length)
{
    char *to = at, *begin = at;
    for (; *at != '"'; at++) {
        if (*at == '\0')
            refuse("a text that does not end");
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        const char *plain = "\"\\/bfnrt", *kind = *++at ? strchr(plain, *at) : NULL;
        if (*at == 'u') {
            unsigned point = hexadecimal(at + 1);
            at += 4;
            if (point >= 0xD800 && point < 0xDC00 && at[1] == '\\' && at[2] == 'u') {
                unsigned second = hexadecimal(at + 3);
                if (second >= 0xDC00 && second < 0xE000) {
                    point = 0x10000 + ((point - 0xD800) << 10) + (second - 0xDC00);
                    at += 6;
                }
            }
            to = encode(to, point);
        } else if (kind != NULL) {
            *to++ = "\"\\/\b\f\n\r\t"[kind - plain];
        } else {
            refuse("an unknown escape");
        }
    }
    *found = begin;
    *length = (size_t)(to - begin);
    *to = '\0'; /* at the latest in place of the quote */
    return at + 1;
}

static char *scalar(char *at, tocsin_value *value)
{
    if (*at == '"') {
        *value = tocsin_text(NULL, 0);
        return text(at + 1, &value->text, &value->length);
    }
    if (strncmp(at, "true", 4) == 0 || strncmp(at, "null", 4) == 0) {
        *value = *at == 't' ? tocsin_truth(1) : tocsin_number(TOCSIN_ABSENT, 0, 0);
        return at + 4;
    }
    if (strncmp(at, "false", 5) == 0) {
        *value = tocsin_truth(0);
        return at + 5;
    }
    char *end, *whole;
    double fraction = strtod(at, &end);
    if (end == at)
        refuse("a value that is no text, number or truth value");
    long long number = strtoll(at, &whole, 10);
    int fits = whole == end && fraction > -9.2e18 && fraction < 9.2e18;
    *value = fits ? tocsin_whole(number) : tocsin_fraction(fraction);
    return end;
}

static size_t parse(char *line, tocsin_field *fields)
{
    size_t count = 0;
    char *at = blank(line);
    if (*at++ != '{')
        refuse("no '{'");
    at = blank(at);
    while (*at != '}') {
        size_t length;
        if (count == MOST_FIELDS)
            refuse("too many fields");
        if (*at != '"')
            refuse("no name in quotes");
        at = blank(text(at + 1, &fields[count].name, &length));
        if (*at++ != ':')
            refuse("no ':'");
        at = blank(scalar(blank(at), &fields[count++].value));
        if (*at == ',')
            at = blank(at + 1);
        else if (*at != '}')
            refuse("no ',' or '}'");
    }
    return count;
}

static void print_text(const char *shown, size_t length)
{
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)shown[i];
        if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else if (byte < 32)
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void print_value(tocsin_value value)
{
    char shown[40];
    switch (value.kind) {
    case TOCSIN_TRUTH:
        fputs(value.whole ? "true" : "false", stdout);
        break;
    case TOCSIN_WHOLE:
        printf("%lld", (long long)value.whole);
        break;
    case TOCSIN_FRACTION:
        if (isnan(value.fraction) || isinf(value.fraction)) {
            fputs(isnan(value.fraction) ? "NaN" : value.fraction > 0 ? "Infinity" : "-Infinity", stdout);
            break;
        }
        snprintf(shown, sizeof shown, "%.17g", value.fraction);
        printf("%s%s", shown, strpbrk(shown, ".e") ? "" : ".0");
        break;
    case TOCSIN_TEXT:
        print_text(value.text, value.length);
        break;
    default:
        fputs("null", stdout);
    }
}

static void print(void *context, const tocsin_output *output)
{
    (void)context;
    fputs("{\"to\": ", stdout);
    print_text(output->to, strlen(output->to));
    fputs(", \"output\": ", stdout);
    if (output->what == TOCSIN_CONSTANT)
        print_value(output->constant);
    for (size_t i = 0; output->what == TOCSIN_EVENT && i < output->event.count; i++) {
        fputs(i == 0 ? "{" : ", ", stdout);
        print_text(output->event.fields[i].name, strlen(output->event.fields[i].name));
        fputs(": ", stdout);
        print_value(output->event.fields[i].value);
    }
    if (output->what == TOCSIN_EVENT)
        fputs(output->event.count == 0 ? "{}" : "}", stdout);
    fputs("}\n", stdout);
}

int main(void)
{
    static tocsin_field fields[MOST_FIELDS];
    static tocsin_state state;
    size_t room = 4096, length = 0;
    char *line = malloc(room);
    tocsin_start(&state);
    for (;;) {
        int byte = line == NULL ? EOF : getchar();
        if (byte != EOF && byte != '\n') {
            if (length + 2 > room)
                line = realloc(line, room *= 2);
            if (line != NULL)
                line[length++] = (char)byte;
            continue;
        }
        if (line == NULL)
            refuse("not enough memory");
        line[length] = '\0';
        if (*blank(line) != '\0') {
            tocsin_event event = {fields, 0};
            event.count = parse(line, fields);
            tocsin_feed(&state, &event, print, NULL);
        }
        length = 0;
        if (byte == EOF)
            break;
    }
    free(line);
    return 0;
}

#endif
"""
