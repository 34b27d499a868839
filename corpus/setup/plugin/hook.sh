#!/bin/sh
# Stands for lazaret-hook: notes what it is asked, and answers what the test says.
printf '%s %s\n' "$*" "$(cat)" >>"$LAZARET_TEST/asked"
cat "$LAZARET_TEST/answer"
exit "$(cat "$LAZARET_TEST/code")"
