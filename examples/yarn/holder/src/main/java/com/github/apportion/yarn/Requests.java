package com.github.apportion.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Makes of the orders about one application what its ResourceManager is asked and told, and of what that says what is to be
 * started. All methods may be called from any thread, and wait for nobody but each other.
 */
final class Requests {
  private final boolean portInName;
  private final Book book = new Book();
  private final List<Entry> back = new ArrayList<>();
  private Task task;

  /**
   * Makes the requests of an application that has none.
   *
   * @param conf the client's configuration
   */
  Requests(Configuration conf) {
    portInName = conf.getBoolean(YarnConfiguration.RM_SCHEDULER_INCLUDE_PORT_IN_NODE_NAME, false);
  }

  /** Notes that a run is wanted, unless it or a later one was before. The next heartbeat asks for it. */
  synchronized void start(long attempt, Task wanted, JsonNode parts) {
    if (!book.begin(attempt)) {
      return;
    }
    task = wanted;
    for (JsonNode part : parts) {
      int first = part.path("first").asInt();
      for (int i = 0; i < part.path("count").asInt(); i++) {
        book.want(first + i, part.path("server").asText());
      }
    }
  }

  /** Notes that an attempt was asked for before: it is not asked for again. */
  synchronized void begun(long attempt) {
    book.begun(attempt);
  }

  /** Notes that all runs up to one are to end, and returns their containers. The next heartbeat gives them back. */
  synchronized List<Entry> stop(long attempt) {
    List<Entry> ended = book.stop(attempt);
    back.addAll(ended);
    return ended;
  }

  /** Reports whether a heartbeat has something to ask for or to give back. */
  synchronized boolean hasNews() {
    return !book.in(Entry.State.WANTED).isEmpty() || !back.isEmpty();
  }

  /** Has the next heartbeat ask for what is wanted and give back what is to go. */
  synchronized void ask(AMRMClient<ContainerRequest> rm) {
    for (Entry e : book.in(Entry.State.WANTED)) {
      e.request = request(e);
      rm.addContainerRequest(e.request);
      e.state = Entry.State.ASKED;
    }
    for (Entry e : back) {
      if (e.container != null) {
        rm.releaseAssignedContainer(e.container.getId());
      } else if (e.request != null) {
        rm.removeContainerRequest(e.request);
      }
      e.request = null;
    }
    back.clear();
  }

  /** Returns what the ResourceManager is asked: this container on this server, and nowhere else. */
  private ContainerRequest request(Entry e) {
    String host = portInName ? e.server : e.server.substring(0, e.server.lastIndexOf(':'));
    return new ContainerRequest(
        task.demand, new String[] {host}, null, Priority.newInstance(1), Entry.number(e.attempt, e.rank), false);
  }

  /** Takes in a container that was granted, and returns what is to be started in it; null: it is given back. */
  synchronized Start granted(AMRMClient<ContainerRequest> rm, Container container) {
    Entry e = book.grant(container);
    if (e == null) {
      rm.releaseAssignedContainer(container.getId());
      return null;
    }
    rm.removeContainerRequest(e.request);
    e.request = null;
    return new Start(e, task);
  }

  /** A container that is to be started, and what is to run in it. */
  static final class Start {
    final Entry entry;
    final Task task;

    Start(Entry entry, Task task) {
      this.entry = entry;
      this.task = task;
    }
  }

  /** Notes that a container was started. */
  synchronized void started(Entry e) {
    if (e.state == Entry.State.GRANTED) {
      e.state = Entry.State.STARTED;
    }
  }

  /** Notes that a container will not start, or is not known to its node, and has it given back. */
  synchronized void failed(Entry e, String why) {
    book.over(e, Book.UNKNOWN_EXIT, why);
    back.add(e);
  }

  /** Notes that a container has ended. */
  synchronized void completed(ContainerStatus s) {
    book.over(s.getContainerId(), s.getExitStatus(), s.getDiagnostics());
  }

  /** Notes that nothing is left of the application. */
  synchronized void gone(String why) {
    book.gone(why);
  }

  /**
   * Takes over what an attempt of the application has left, and returns what was not known of it. What was asked for and not
   * granted is asked for again: with the attempt it was forgotten.
   */
  synchronized List<Entry> takeOver(Collection<Container> found) {
    for (Entry e : book.in(Entry.State.ASKED)) {
      e.state = Entry.State.WANTED;
    }
    book.keepOnly(found);
    List<Entry> unknown = new ArrayList<>();
    for (Container container : found) {
      Entry e = book.adopt(container);
      if (e != null) {
        unknown.add(e);
      }
    }
    return unknown;
  }

  /** Returns the container with this entry's number that is known; null: there is none. */
  synchronized Entry find(Container container) {
    for (Entry e : book.entries()) {
      if (e.container != null && e.container.getId().equals(container.getId())) {
        return e;
      }
    }
    return null;
  }

  /** Writes into an answer what was stopped, and how all containers stand if that is wanted. */
  synchronized void tell(ObjectNode answer, boolean withContainers) {
    answer.put("stopped", book.stopped());
    if (!withContainers) {
      return;
    }
    ArrayNode list = answer.putArray("containers");
    for (Entry e : book.entries()) {
      ObjectNode one = list.addObject();
      one.put("attempt", e.attempt).put("rank", e.rank).put("server", e.server);
      one.put("state", e.state.name().toLowerCase(Locale.ROOT));
      one.put("id", e.container == null ? "" : e.container.getId().toString());
      one.put("exit", e.exit).put("why", e.why);
    }
  }
}
