package com.github.apportion.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Holds the application masters of a controller's jobs. Orders come as lines of JSON on standard input; every one has an
 * {@code id}, an {@code op} and, but for {@code list}, a {@code job}, and is answered by one line with the same id on
 * standard output. When the input ends the holder ends, and the applications go on: the next holder takes them over, if it
 * comes before the ResourceManager gives them up.
 *
 * <table>
 * <caption>Orders</caption>
 * <tr><th>open</th><td>have an application for the job; says how it stands</td></tr>
 * <tr><th>start</th><td>ask for the containers of a run and start them when they are granted</td></tr>
 * <tr><th>stop</th><td>give back the containers of all runs up to one</td></tr>
 * <tr><th>end</th><td>end the application</td></tr>
 * <tr><th>list</th><td>say how all applications and their containers stand</td></tr>
 * </table>
 */
public final class Holder {
  /** How many containers are started at the same time. */
  private static final int STARTS = 16;

  private final ObjectMapper json = new ObjectMapper();
  private final Map<String, Master> masters = new TreeMap<>();
  private final Configuration conf;
  private final Clients clients;
  private final Tokens tokens;
  private final Executor starts;
  private final String instance;
  private final long heartbeat;

  /**
   * Makes a holder.
   *
   * @param conf the configuration of Hadoop's clients
   * @param clients where applications have their connections from
   * @param tokens where their tokens are kept
   * @param instance the tag of this controller's applications
   * @param heartbeat the pause between two heartbeats of an application, in milliseconds
   */
  Holder(Configuration conf, Clients clients, Tokens tokens, String instance, long heartbeat) {
    this.conf = conf;
    this.clients = clients;
    this.tokens = tokens;
    this.instance = instance;
    this.heartbeat = heartbeat;
    starts = Executors.newFixedThreadPool(STARTS, Holder::daemon);
  }

  private static Thread daemon(Runnable what) {
    Thread thread = new Thread(what);
    thread.setDaemon(true);
    return thread;
  }

  /** Carries out one line and returns the line that answers it. */
  String answer(String line) throws IOException {
    ObjectNode answer = json.createObjectNode();
    try {
      JsonNode order = json.readTree(line);
      answer.set("id", order.path("id"));
      carryOut(order, answer);
    } catch (IOException | IllegalArgumentException e) {
      answer.put("error", String.valueOf(e.getMessage()));
    }
    return json.writeValueAsString(answer);
  }

  private void carryOut(JsonNode order, ObjectNode answer) throws IOException {
    String job = order.path("job").asText();
    Master master = masters.get(job);
    switch (order.path("op").asText()) {
      case "open":
        master = open(job, master, order);
        master.tell(answer, false);
        return;
      case "list":
        ObjectNode jobs = answer.putObject("jobs");
        masters.forEach((name, one) -> one.tell(jobs.putObject(name), true));
        return;
      case "start":
        known(master, job).start(order.path("attempt").asLong(), new Task(order), order.path("parts"));
        return;
      case "stop":
        known(master, job).stop(order.path("attempt").asLong());
        return;
      case "end":
        known(master, job).end(FinalApplicationStatus.valueOf(order.path("status").asText()), order.path("why").asText());
        return;
      default:
        throw new IllegalArgumentException("there is no order " + order.path("op"));
    }
  }

  private static Master known(Master master, String job) {
    if (master == null) {
      throw new IllegalArgumentException("job " + job + " is not open");
    }
    return master;
  }

  /** Returns the master of a submission, which is made if there is none. */
  private Master open(String job, Master master, JsonNode order) throws IOException {
    if (master == null || !master.isOf(order)) {
      if (master != null && !master.isClosed()) {
        throw new IllegalArgumentException("the application of an earlier job of this name has not ended");
      }
      master = new Master(conf, clients, tokens, starts, instance, heartbeat, order);
      masters.put(job, master);
      daemon(master).start();
    }
    return master;
  }

  /**
   * Runs the holder.
   *
   * @param args the tag of the controller's applications, the pause between two heartbeats in milliseconds, and the folder where
   *     the tokens of applications are kept
   * @throws IOException if standard input cannot be read
   */
  public static void main(String[] args) throws IOException {
    // Standard output belongs to the answers, whatever a library logs there.
    PrintStream out = System.out;
    System.setOut(System.err);
    Holder holder = new Holder(new YarnConfiguration(), Clients.HADOOP, new Tokens(Path.of(args[2])), args[0], Long.parseLong(args[1]));
    out.println(JsonNodeFactory.instance.objectNode().put("ready", true));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(holder.answer(line));
      out.flush();
    }
    // Nobody tells it what to do any more; nothing of the applications ends with it.
    Runtime.getRuntime().halt(0);
  }
}
