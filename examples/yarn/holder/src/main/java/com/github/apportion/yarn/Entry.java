package com.github.apportion.yarn;

import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;

/** One container of a run, from when it is wanted until it is over. */
final class Entry {
  /** How far a container has come. */
  enum State {
    /** It is wanted, and the ResourceManager does not know of it yet. */
    WANTED,
    /** The ResourceManager was asked for it. */
    ASKED,
    /** It was granted, and its NodeManager was or will be asked to start it. */
    GRANTED,
    /** Its NodeManager has started it. */
    STARTED,
    /** Nothing is to be expected of it any more. */
    OVER
  }

  /** How many bits of a number of a container are its rank. */
  private static final int RANK_BITS = 20;

  /** The attempt of the run that it belongs to, from 1. */
  final long attempt;

  /** Its rank in the run, from 0. */
  final int rank;

  /** The server it is to be on, as {@code host:port} of the NodeManager. */
  final String server;

  /** How far it has come. */
  State state;

  /** What the ResourceManager was asked; null: nothing. */
  ContainerRequest request;

  /** What was granted; null: nothing yet. */
  Container container;

  /** The exit status by YARN's word, once it is over. */
  int exit;

  /** Why it is over, in words. */
  String why = "";

  Entry(long attempt, int rank, String server, State state) {
    this.attempt = attempt;
    this.rank = rank;
    this.server = server;
    this.state = state;
  }

  /**
   * Returns the number under which a container is asked for. YARN keeps it with the container, so whoever holds the
   * application after this holder reads attempt and rank from it.
   */
  static long number(long attempt, int rank) {
    return attempt << RANK_BITS | rank;
  }

  /** Reports whether a number is that of a container of a run: the least is that of the first attempt. */
  static boolean isOfRun(long number) {
    return attemptOf(number) > 0;
  }

  /** Returns the attempt of a container by its number. */
  static long attemptOf(long number) {
    return number >> RANK_BITS;
  }

  /** Returns the rank of a container by its number. */
  static int rankOf(long number) {
    return (int) (number & ((1L << RANK_BITS) - 1));
  }
}
