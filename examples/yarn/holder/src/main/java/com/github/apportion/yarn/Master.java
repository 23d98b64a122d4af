package com.github.apportion.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException;
import org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * The unmanaged application master of one job. A thread of its own runs {@link #run}: it submits the application, or takes
 * over the one that a holder before this one had, and then asks, grants, starts and gives back with every heartbeat. All
 * other methods may be called from any thread, and wait for nobody but each other.
 */
final class Master implements Runnable {
  /** The type of the applications, by which they are found again. */
  static final String TYPE = "APPORTION";

  /** How an application stands. */
  enum State {
    /** It was submitted, or is being taken over. */
    OPENING,
    /** Its master is registered. */
    OPEN,
    /** YARN does not want it; what follows says why. */
    REFUSED,
    /** It has ended, or was killed. */
    CLOSED
  }

  private final Configuration conf;
  private final Executor starts;
  private final String job;
  private final String user;
  private final String queue;
  private final String label;
  private final int priority;
  private final Set<String> tags;
  private final long heartbeat;
  private final Clients clients;
  private final Tokens tokens;
  private final Requests requests;

  private State state = State.OPENING;
  private String why = "";
  private FinalApplicationStatus ending;
  private String endingWhy = "";

  // What follows belongs to the thread of run.
  private final UserGroupInformation client;
  private YarnClient yarn;
  private ApplicationId application;
  private boolean submitted;
  private UserGroupInformation self;
  private AMRMClient<ContainerRequest> rm;
  private NMClient nm;

  /**
   * Makes the master of a job.
   *
   * @param conf the client's configuration
   * @param clients where it has its connections from
   * @param tokens where the token of its application is kept
   * @param starts what containers are started by, since a NodeManager may take its time
   * @param instance a tag that tells the applications of one controller from those of others
   * @param heartbeat the pause between two heartbeats, in milliseconds
   * @param order an order with the fields job, user, queue, label, priority and stamp
   * @throws IOException if the user cannot be impersonated
   */
  Master(Configuration conf, Clients clients, Tokens tokens, Executor starts, String instance, long heartbeat, JsonNode order)
      throws IOException {
    this.conf = conf;
    this.clients = clients;
    this.tokens = tokens;
    this.starts = starts;
    this.heartbeat = heartbeat;
    job = order.path("job").asText();
    user = order.path("user").asText();
    queue = order.path("queue").asText();
    label = order.path("label").asText();
    priority = order.path("priority").asInt();
    // The ResourceManager keeps tags in small letters.
    tags = Set.of(instance, order.path("stamp").asText());
    requests = new Requests(conf);
    client = impersonate(user);
  }

  private static UserGroupInformation impersonate(String user) throws IOException {
    UserGroupInformation login = UserGroupInformation.getLoginUser();
    if (login.getShortUserName().equals(user)) {
      return login;
    }
    return UserGroupInformation.isSecurityEnabled()
        ? UserGroupInformation.createProxyUser(user, login)
        : UserGroupInformation.createRemoteUser(user);
  }

  /** Reports whether the master is that of a submission: the same job may be submitted anew. */
  boolean isOf(JsonNode order) {
    return tags.contains(order.path("stamp").asText());
  }

  /** Notes that a run is wanted, and has that asked for soon. */
  synchronized void start(long attempt, Task wanted, JsonNode parts) {
    requests.start(attempt, wanted, parts);
    notifyAll();
  }

  /** Notes that all runs up to one are to end, and has their containers given back soon. */
  synchronized void stop(long attempt) {
    requests.stop(attempt);
    notifyAll();
  }

  /** Has the application end. */
  synchronized void end(FinalApplicationStatus how, String words) {
    ending = how;
    endingWhy = words;
    notifyAll();
  }

  /** Reports whether the application has ended. */
  synchronized boolean isClosed() {
    return state == State.CLOSED;
  }

  /** Writes into an answer how the application and its containers stand. */
  synchronized void tell(ObjectNode answer, boolean withContainers) {
    answer.put("state", state.name().toLowerCase(Locale.ROOT)).put("why", why);
    requests.tell(answer, withContainers);
  }

  @Override
  public void run() {
    try {
      while (!isClosed()) {
        beat();
        synchronized (this) {
          if (state != State.CLOSED && !(rm != null && requests.hasNews())) {
            wait(heartbeat);
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  /** Does one round, and notes what went wrong: it is tried again with the next. */
  private void beat() throws InterruptedException {
    try {
      if (rm == null) {
        connect();
      }
      if (rm != null) {
        round();
      }
    } catch (ApplicationAttemptNotFoundException | InvalidApplicationMasterRequestException e) {
      // The ResourceManager has given this attempt up: the application has another, or none.
      note(State.OPENING, e.getMessage());
      close();
    } catch (YarnException | IOException | RuntimeException e) {
      note(null, String.valueOf(e.getMessage()));
      Thread.sleep(heartbeat);
    }
  }

  private synchronized void note(State now, String words) {
    if (now != null) {
      state = now;
    }
    why = words == null ? "" : words;
    if (state == State.CLOSED || state == State.REFUSED) {
      requests.gone("the application is gone: " + why);
    }
  }

  private void close() {
    if (nm != null) {
      nm.stop();
    }
    if (rm != null) {
      rm.stop();
    }
    if (yarn != null) {
      yarn.stop();
    }
    nm = null;
    rm = null;
    yarn = null;
    application = null;
  }

  /** Comes one step nearer to a registered master, as far as the ResourceManager is. */
  private void connect() throws YarnException, IOException, InterruptedException {
    synchronized (this) {
      if (state == State.REFUSED) {
        if (ending != null) {
          state = State.CLOSED;
        }
        return;
      }
    }
    if (yarn == null) {
      yarn = as(client, () -> {
        YarnClient made = clients.yarn();
        made.init(conf);
        made.start();
        return made;
      });
    }
    if (application == null) {
      application = find();
    }
    if (application == null) {
      application = submit();
    }
    ApplicationReport report = as(client, () -> yarn.getApplicationReport(application));
    YarnApplicationState now = report.getYarnApplicationState();
    if (now == YarnApplicationState.FAILED || now == YarnApplicationState.KILLED || now == YarnApplicationState.FINISHED) {
      ended(now, report.getDiagnostics());
      return;
    }
    ApplicationAttemptId attempt = report.getCurrentApplicationAttemptId();
    if (attempt == null || now != YarnApplicationState.ACCEPTED && now != YarnApplicationState.RUNNING) {
      return;
    }
    YarnApplicationAttemptState stands = as(client, () -> yarn.getApplicationAttemptReport(attempt).getYarnApplicationAttemptState());
    if (stands == YarnApplicationAttemptState.LAUNCHED || stands == YarnApplicationAttemptState.RUNNING) {
      register();
    }
  }

  /** Notes how the application has ended. One that has failed after it had run is submitted once more. */
  private void ended(YarnApplicationState how, String words) throws IOException {
    tokens.forget(application);
    if (how == YarnApplicationState.FAILED && !submitted) {
      application = null;
      submitted = true;
      requests.gone("the application is gone: " + words);
      return;
    }
    note(how == YarnApplicationState.FAILED ? State.REFUSED : State.CLOSED, words);
  }

  /** Finds the application that a holder before this one has submitted; null: there is none. */
  private ApplicationId find() throws YarnException, IOException, InterruptedException {
    EnumSet<YarnApplicationState> live = EnumSet.complementOf(EnumSet.of(YarnApplicationState.FAILED));
    for (ApplicationReport report : as(client, () -> yarn.getApplications(Set.of(TYPE), live))) {
      if (report.getUser().equals(user) && report.getName().equals(job) && report.getApplicationTags().containsAll(tags)) {
        return report.getApplicationId();
      }
    }
    return null;
  }

  private ApplicationId submit() throws YarnException, IOException, InterruptedException {
    submitted = true;
    return as(client, () -> {
      ApplicationSubmissionContext context = yarn.createApplication().getApplicationSubmissionContext();
      context.setApplicationName(job);
      context.setApplicationType(TYPE);
      context.setApplicationTags(tags);
      context.setQueue(queue);
      context.setPriority(Priority.newInstance(priority));
      context.setUnmanagedAM(true);
      // With this the next holder may register, and is told which containers there are.
      context.setKeepContainersAcrossApplicationAttempts(true);
      if (!label.isEmpty()) {
        context.setNodeLabelExpression(label);
      }
      context.setAMContainerSpec(ContainerLaunchContext.newInstance(Map.of(), Map.of(), List.of(), null, null, null));
      context.setResource(Resource.newInstance(0, 0));
      try {
        return yarn.submitApplication(context);
      } catch (YarnException e) {
        // It was refused by its queue: an access control list, a limit, or there is no such queue.
        note(State.REFUSED, e.getMessage());
        throw e;
      }
    });
  }

  /** Registers with the ResourceManager, and takes over what there is. */
  private void register() throws YarnException, IOException, InterruptedException {
    self = UserGroupInformation.createRemoteUser(user);
    self.addToken(token());
    // One cache for each application: in the one that all share, tokens of two applications on one node collide.
    NMTokenCache cache = new NMTokenCache();
    AMRMClient<ContainerRequest> made = clients.rm();
    made.setNMTokenCache(cache);
    List<Container> found = as(self, () -> {
      made.init(conf);
      made.start();
      return made.registerApplicationMaster("", 0, "").getContainersFromPreviousAttempts();
    });
    nm = clients.nm();
    nm.setNMTokenCache(cache);
    nm.cleanupRunningContainersOnStop(false);
    as(self, () -> {
      nm.init(conf);
      nm.start();
      return null;
    });
    rm = made;
    NMClient node = nm;
    UserGroupInformation ugi = self;
    for (Entry e : requests.takeOver(found)) {
      starts.execute(() -> ask(node, ugi, e));
    }
    note(State.OPEN, "");
  }

  /** Returns the token of this attempt, which is kept before anything is done with it: it may be given out only once. */
  private Token<AMRMTokenIdentifier> token() throws YarnException, IOException, InterruptedException {
    Token<AMRMTokenIdentifier> given = as(client, () -> yarn.getAMRMToken(application));
    if (given == null) {
      given = tokens.of(application);
    }
    if (given == null) {
      throw new IOException("the token of " + application + " was lost; YARN gives another one to its next attempt");
    }
    tokens.keep(application, given);
    return given;
  }

  /** Keeps the token that the ResourceManager may have put in the place of the one before. */
  private void keepToken() throws IOException {
    for (Token<?> t : self.getTokens()) {
      if (t.getKind().equals(AMRMTokenIdentifier.KIND_NAME)) {
        tokens.keep(application, t);
      }
    }
  }

  /** Asks a NodeManager of a container that was found, which may never have been started. */
  private void ask(NMClient node, UserGroupInformation ugi, Entry e) {
    try {
      ContainerStatus status = as(ugi, () -> node.getContainerStatus(e.container.getId(), e.container.getNodeId()));
      if (status.getState() == ContainerState.COMPLETE) {
        requests.completed(status);
      }
    } catch (YarnException x) {
      giveBack(e, "its node does not know it: " + x.getMessage());
    } catch (IOException x) {
      // The node does not answer. Should it be lost, the ResourceManager will say so.
    } catch (InterruptedException x) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void giveBack(Entry e, String words) {
    requests.failed(e, words);
    notifyAll();
  }

  /** Does one heartbeat: asks for what is wanted, gives back what is to go, and takes in what the ResourceManager says. */
  private void round() throws YarnException, IOException, InterruptedException {
    FinalApplicationStatus how;
    synchronized (this) {
      how = ending;
    }
    requests.ask(rm);
    if (how != null) {
      as(self, () -> {
        rm.unregisterApplicationMaster(how, endingWhy, "");
        return null;
      });
      note(State.CLOSED, endingWhy);
      tokens.forget(application);
      return;
    }
    AllocateResponse response = as(self, () -> rm.allocate(0.5f));
    note(null, "");
    for (Container container : response.getAllocatedContainers()) {
      Requests.Start start = requests.granted(rm, container);
      if (start != null) {
        NMClient node = nm;
        UserGroupInformation ugi = self;
        starts.execute(() -> launch(node, ugi, start.task, start.entry));
      }
    }
    response.getCompletedContainersStatuses().forEach(requests::completed);
    keepToken();
  }

  private void launch(NMClient node, UserGroupInformation ugi, Task run, Entry e) {
    ContainerLaunchContext context =
        ContainerLaunchContext.newInstance(Map.of(), run.environmentOf(e), List.of(run.command), null, null, null);
    try {
      as(ugi, () -> node.startContainer(e.container, context));
      requests.started(e);
    } catch (YarnException | IOException x) {
      giveBack(e, "its node has not started it: " + x.getMessage());
    } catch (InterruptedException x) {
      Thread.currentThread().interrupt();
    }
  }

  /** Does something as a user, and lets only those exceptions out that it is known for. */
  private static <T> T as(UserGroupInformation user, PrivilegedExceptionAction<T> what)
      throws YarnException, IOException, InterruptedException {
    try {
      return user.doAs(what);
    } catch (java.lang.reflect.UndeclaredThrowableException e) {
      if (e.getCause() instanceof YarnException) {
        throw (YarnException) e.getCause();
      }
      throw e;
    }
  }
}
