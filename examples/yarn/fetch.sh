#!/usr/bin/env bash
# Fetches the jars of a YARN cluster into a folder, checks them against jars.sha256, and builds and tests the holder, whose
# jar lies beside them in the end. It needs Maven and a JDK, version 11 or later, which are installed where they are
# missing.
set -euo pipefail
target=$1
cd "$(dirname "$0")"
{ command -v mvn && command -v javac; } >/dev/null || {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends maven openjdk-17-jdk-headless >/dev/null
}
check() { (cd "$1" && sha256sum --quiet --strict -c) <jars.sha256; }
if ! test -d "$target/lib"; then
  mkdir -p "$target"
  rm -rf "$target/new"
  mvn -q -B -f holder/pom.xml dependency:copy-dependencies -DincludeScope=compile -DoutputDirectory="$target/new"
  check "$target/new"
  test "$(ls "$target/new" | wc -l)" = "$(wc -l <jars.sha256)"
  mv "$target/new" "$target/lib"
fi
# What is in the cache is what was checked; the holder is built when its sources have changed.
sources=$(find holder/pom.xml holder/src -type f | sort | xargs cat | cksum | cut -d' ' -f1)
if ! test -f "$target/holder-$sources.jar"; then
  mvn -q -B -f holder/pom.xml package
  rm -f "$target"/holder-*.jar
  cp holder/out/apportion-yarn-holder.jar "$target/holder-$sources.jar"
  rm -rf holder/out
fi
