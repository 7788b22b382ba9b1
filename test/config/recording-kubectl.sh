#!/usr/bin/env bash
# A kubectl that prints what it is told to create, and finds the database's Secret alone.
case "$*" in
*'get secret tintype-db-app --output'*) printf 'postgres://there' | base64 ;;
*'get secret tintype-db-app'*) exit 0 ;;
*'get secret tintype-keys --output'*) printf 'k1:key' | base64 ;;
*'get secret '*) exit 1 ;;
*) echo "$*" ;;
esac
