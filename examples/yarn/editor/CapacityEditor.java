package com.github.apportion.yarn.editor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceInformation;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.monitor.SchedulingEditPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.MutableConfigurationProvider;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.conf.YarnConfigurationStore.LogMutation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.webapp.dao.QueueConfigInfo;
import org.apache.hadoop.yarn.webapp.dao.SchedConfUpdateInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A monitor inside a ResourceManager with a CapacityScheduler, which gives each queue what its applications deserve together by dominant
 * resource fairness. It asks {@code apportion serve} by its socket, in the thread of this monitor: where nobody answers, or answers late,
 * capacities stay as they are and nothing else waits. Containers move when they end, or by YARN's own preemption.
 */
public final class CapacityEditor implements SchedulingEditPolicy {
  /** The path of the socket. */
  public static final String SOCKET = "apportion.editor.socket";

  /** How often capacities are edited. */
  public static final String INTERVAL_MS = "apportion.editor.interval-ms";

  /** How long an answer may take, from the connection to its last byte. */
  public static final String TIMEOUT_MS = "apportion.editor.timeout-ms";

  // In hundredths of a percent: what a queue has at least, so that its next application can begin; all of a parent; and by how much
  // some queue must change for an edit.
  private static final int LEAST = 100;
  private static final int WHOLE = 100_00;
  private static final int CHANGE = 100;

  // How long an answer may be: some hundred bytes for each application.
  private static final int ANSWER_BYTES = 32 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(CapacityEditor.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  private String socket;
  private long intervalMs;
  private long timeoutMs;
  private RMContext context;
  private CapacityScheduler scheduler;

  @Override
  public void init(Configuration conf, RMContext rmContext, ResourceScheduler resourceScheduler) {
    socket = conf.get(SOCKET, "/run/apportion.sock");
    intervalMs = conf.getLong(INTERVAL_MS, 30_000);
    timeoutMs = conf.getLong(TIMEOUT_MS, 10_000);
    context = rmContext;
    scheduler = (CapacityScheduler) resourceScheduler;
    if (!scheduler.isConfigurationMutable()) {
      throw new IllegalArgumentException("yarn.scheduler.configuration.store.class is to name a store that can be changed");
    }
  }

  @Override
  public long getMonitoringInterval() {
    return intervalMs;
  }

  @Override
  public String getPolicyName() {
    return "CapacityEditor";
  }

  @Override
  public void editSchedule() {
    try {
      Map<String, Double> parts = parts();
      List<QueueConfigInfo> updates = new ArrayList<>();
      if (capacities(scheduler.getRootQueue(), parts, updates)) {
        set(updates);
        LOG.info("queues have what their applications deserve: {}", parts);
      }
    } catch (Exception | StackOverflowError e) { // an answer may be nested without end
      LOG.warn("capacities stay as they are: {}", e.toString());
    }
  }

  /** What the applications of each queue deserve together, as a part of the cluster, by the path of the queue. */
  private Map<String, Double> parts() throws IOException {
    Resource all = scheduler.getClusterResource();
    ObjectNode question = JSON.createObjectNode();
    ArrayNode kinds = question.putArray("kinds");
    for (ResourceInformation kind : all.getResources()) {
      kinds.add(kind.getName());
    }
    vector(question.putArray("capacity"), all, 1);
    ArrayNode claims = question.putArray("claims");
    Map<String, String> queues = new HashMap<>();
    for (RMApp app : context.getRMApps().values()) {
      FiCaSchedulerApp attempt = app.getCurrentAppAttempt() == null ? null : scheduler.getApplicationAttempt(app.getCurrentAppAttempt().getAppAttemptId());
      if (attempt != null && !attempt.isStopped() && claim(claims, app.getApplicationId().toString(), attempt)) {
        queues.put(app.getApplicationId().toString(), attempt.getCSLeafQueue().getQueuePath());
      }
    }
    Map<String, Double> parts = new HashMap<>();
    for (JsonNode claim : ask("/v1/drf", question).path("claims")) {
      String queue = queues.remove(claim.path("id").asText());
      double share = claim.path("share").asDouble(-1);
      if (queue == null || !(share >= 0 && share <= 1)) {
        throw new IOException("nobody asked for the claim " + claim);
      }
      parts.merge(queue, share, Double::sum);
    }
    if (!queues.isEmpty()) {
      throw new IOException("no answer for " + queues.keySet());
    }
    return parts;
  }

  /** Adds the claim of an application: containers of the average size of those that it has, up to as many as it asks for. */
  private static boolean claim(ArrayNode claims, String id, FiCaSchedulerApp attempt) {
    Resource used = attempt.getAppAttemptResourceUsage().getUsed();
    Resource pending = attempt.getAppAttemptResourceUsage().getPending();
    int containers = attempt.getLiveContainers().size();
    long most = 1;
    long largest = 0;
    ObjectNode claim = JSON.createObjectNode().put("id", id).put("weight", 1);
    ArrayNode demand = claim.putArray("demand");
    vector(demand, containers == 0 ? pending : used, Math.max(1, containers));
    for (int k = 0; k < demand.size(); k++) {
      long each = demand.get(k).asLong();
      largest = Math.max(largest, each);
      if (each > 0) {
        most = Math.max(most, (used.getResourceInformation(k).getValue() + pending.getResourceInformation(k).getValue()) / each);
      }
    }
    if (largest > 0) {
      claims.add(claim.put("max", most));
    }
    return largest > 0;
  }

  /** Adds amounts by kind, divided and rounded up. */
  private static void vector(ArrayNode to, Resource amounts, long by) {
    for (ResourceInformation amount : amounts.getResources()) {
      to.add((amount.getValue() + by - 1) / by);
    }
  }

  /** What a queue and those below it deserve. */
  private static double partOf(CSQueue queue, Map<String, Double> parts) {
    double part = parts.getOrDefault(queue.getQueuePath(), 0.0);
    for (CSQueue child : children(queue)) {
      part += partOf(child, parts);
    }
    return part;
  }

  private static List<CSQueue> children(CSQueue queue) {
    return queue.getChildQueues() == null ? List.of() : queue.getChildQueues();
  }

  /**
   * Adds the capacities of all queues below one, as percentages of it which come to 100, and reports whether any of them is another one now.
   * Where nobody below deserves anything, or all may not have 100 together, all stays as it is.
   */
  private static boolean capacities(CSQueue parent, Map<String, Double> parts, List<QueueConfigInfo> into) {
    boolean changes = false;
    List<CSQueue> children = new ArrayList<>(children(parent));
    children.sort(Comparator.comparingDouble((CSQueue child) -> -partOf(child, parts)).thenComparing(CSQueue::getQueuePath));
    double sum = 0;
    for (CSQueue child : children) {
      changes |= capacities(child, parts, into);
      sum += partOf(child, parts);
    }
    int free = WHOLE - LEAST * children.size();
    if (sum == 0 || free < 0) {
      return changes;
    }
    int left = WHOLE;
    Map<CSQueue, Integer> wanted = new HashMap<>();
    for (CSQueue child : children) {
      int part = Math.min(most(child), LEAST + (int) Math.floor(free * partOf(child, parts) / sum));
      wanted.put(child, part);
      left -= part;
    }
    for (CSQueue child : children) { // what was rounded off, and what others may not have
      int more = Math.min(left, most(child) - wanted.get(child));
      wanted.merge(child, more, Integer::sum);
      left -= more;
    }
    if (left > 0) {
      return changes;
    }
    for (CSQueue child : children) {
      int part = wanted.get(child);
      changes |= Math.abs(part - child.getCapacity() * WHOLE) >= CHANGE;
      into.add(new QueueConfigInfo(child.getQueuePath(), Map.of("capacity", String.format(Locale.ROOT, "%d.%02d", part / 100, part % 100))));
    }
    return changes;
  }

  /** The most that a queue may have of its parent: YARN refuses all capacities where one is above it. */
  private static int most(CSQueue queue) {
    return Math.round(queue.getMaximumCapacity() * WHOLE);
  }

  /** Sets capacities, all or none, as YARN's web service does it. */
  private void set(List<QueueConfigInfo> updates) throws Exception {
    SchedConfUpdateInfo update = new SchedConfUpdateInfo();
    update.setUpdateQueueInfo(new ArrayList<>(updates));
    MutableConfigurationProvider provider = scheduler.getMutableConfProvider();
    LogMutation logged = provider.logAndApplyMutation(UserGroupInformation.getLoginUser(), update);
    try {
      context.getRMAdminService().refreshQueues();
    } catch (IOException | YarnException e) {
      provider.confirmPendingMutation(logged, false);
      throw e;
    }
    provider.confirmPendingMutation(logged, true);
  }

  /** Asks a question by HTTP on the socket, whose end of the connection is the end of the answer. */
  private JsonNode ask(String path, JsonNode question) throws IOException {
    byte[] body = JSON.writeValueAsBytes(question);
    String head = "POST " + path + " HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: " + body.length + "\r\n\r\n";
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      // A service that hangs is not waited for: to close the channel ends what waits for it.
      CompletableFuture.delayedExecutor(timeoutMs, TimeUnit.MILLISECONDS).execute(() -> close(channel));
      channel.connect(UnixDomainSocketAddress.of(socket));
      for (byte[] part : List.of(head.getBytes(StandardCharsets.US_ASCII), body)) {
        for (ByteBuffer rest = ByteBuffer.wrap(part); rest.hasRemaining(); ) {
          channel.write(rest);
        }
      }
      String text = new String(Channels.newInputStream(channel).readNBytes(ANSWER_BYTES), StandardCharsets.UTF_8);
      int at = text.indexOf("\r\n\r\n");
      if (at < 0 || !text.startsWith("200", text.indexOf(' ') + 1)) {
        throw new IOException(path + " answers " + text.substring(0, Math.min(text.length(), 200)));
      }
      return JSON.readTree(text.substring(at));
    } catch (ClosedChannelException e) {
      throw new IOException(path + " has no answer within " + timeoutMs + " ms", e);
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn("a connection stays open", e);
    }
  }
}
