package com.github.apportion.yarn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;

/**
 * What is known of the containers of one application. It decides and remembers, and speaks to nobody: {@link Master} does
 * what it says. It is not safe for use by several threads.
 */
final class Book {
  /** The exit status that stands for containers of which nobody can say how they ended. */
  static final int UNKNOWN_EXIT = -1000;

  private final TreeMap<Long, Entry> entries = new TreeMap<>();
  private long started;
  private long stopped;

  /** Returns all containers that are known, by attempt and rank. */
  Collection<Entry> entries() {
    return entries.values();
  }

  /** Returns the highest attempt that was asked to stop. */
  long stopped() {
    return stopped;
  }

  /**
   * Reports whether an attempt is to be asked for: it is newer than all that were asked for or stopped. What is over of
   * earlier ones is forgotten then.
   */
  boolean begin(long attempt) {
    if (attempt <= Math.max(started, stopped)) {
      return false;
    }
    started = attempt;
    entries.values().removeIf(e -> e.state == Entry.State.OVER);
    return true;
  }

  /** Notes that an attempt was asked for before this book was begun. */
  void begun(long attempt) {
    started = Math.max(started, attempt);
  }

  /** Notes that a container is wanted of the attempt that was begun last. */
  void want(int rank, String server) {
    entries.put(Entry.number(started, rank), new Entry(started, rank, server, Entry.State.WANTED));
  }

  /** Returns the containers that are in a state. */
  List<Entry> in(Entry.State state) {
    List<Entry> found = new ArrayList<>();
    for (Entry e : entries.values()) {
      if (e.state == state) {
        found.add(e);
      }
    }
    return found;
  }

  /**
   * Notes a container that the ResourceManager has granted, and returns its entry; null: it was not asked for, or not
   * there, or not any more, and is to be given back.
   */
  Entry grant(Container container) {
    Entry e = entries.get(container.getAllocationRequestId());
    if (e == null || e.state != Entry.State.ASKED || !e.server.equals(container.getNodeId().toString())) {
      return null;
    }
    e.container = container;
    e.state = Entry.State.GRANTED;
    return e;
  }

  /** Notes a container that a holder before this one was granted, and returns its entry; null: it is known. */
  Entry adopt(Container container) {
    long number = container.getAllocationRequestId();
    if (entries.containsKey(number)) {
      return null;
    }
    Entry e = new Entry(Entry.attemptOf(number), Entry.rankOf(number), container.getNodeId().toString(), Entry.State.STARTED);
    e.container = container;
    entries.put(number, e);
    begun(e.attempt);
    return e;
  }

  /** Notes that of what was granted these containers are left. */
  void keepOnly(Collection<Container> left) {
    Set<ContainerId> ids = left.stream().map(Container::getId).collect(Collectors.toSet());
    for (Entry e : entries.values()) {
      if (e.container != null && !ids.contains(e.container.getId())) {
        over(e, UNKNOWN_EXIT, "it ended with an attempt of the application");
      }
    }
  }

  /** Notes that a container is over, by its own number; the first word on that counts. */
  void over(ContainerId id, int exit, String why) {
    for (Entry e : entries.values()) {
      if (e.container != null && e.container.getId().equals(id)) {
        over(e, exit, why);
      }
    }
  }

  /** Notes that a container is over. */
  void over(Entry e, int exit, String why) {
    if (e.state != Entry.State.OVER) {
      e.state = Entry.State.OVER;
      e.exit = exit;
      e.why = why;
    }
  }

  /** Notes that all attempts up to one are to end, and returns those of their containers that are to be given back. */
  List<Entry> stop(long attempt) {
    stopped = Math.max(stopped, attempt);
    List<Entry> ended = new ArrayList<>();
    for (Entry e : entries.values()) {
      if (e.attempt <= attempt && e.state != Entry.State.OVER) {
        over(e, UNKNOWN_EXIT, "it was stopped");
        ended.add(e);
      }
    }
    return ended;
  }

  /** Notes that the application is gone, and all its containers with it. */
  void gone(String why) {
    for (Entry e : entries.values()) {
      over(e, UNKNOWN_EXIT, why);
    }
  }
}
