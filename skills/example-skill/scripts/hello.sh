#!/bin/sh
# Greets whoever is named in the first argument.
echo "Hello, ${1:-World}! This is ${SKILL_NAME:-a skill} speaking."
