package com.github.apportion.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.Resource;

/** What the containers of a run take and run. */
final class Task {
  /** What one container takes. */
  final Resource demand;

  /** The command of every container, for the shell. */
  final String command;

  private final String serverVariable;
  private final String rankVariable;

  /**
   * Reads a task from an order.
   *
   * @param order an order with the fields memory (MiB), vcores, resources (others, by name), command, and the names of the
   *     variables that tell a container its server and its rank
   */
  Task(JsonNode order) {
    Map<String, Long> others = new HashMap<>();
    order.path("resources").fields().forEachRemaining(f -> others.put(f.getKey(), f.getValue().asLong()));
    demand = Resource.newInstance(order.path("memory").asLong(), order.path("vcores").asInt(), others);
    command = order.path("command").asText();
    serverVariable = order.path("server_variable").asText();
    rankVariable = order.path("rank_variable").asText();
  }

  /** Returns the environment of a container. */
  Map<String, String> environmentOf(Entry e) {
    return Map.of(serverVariable, e.server, rankVariable, Integer.toString(e.rank));
  }
}
