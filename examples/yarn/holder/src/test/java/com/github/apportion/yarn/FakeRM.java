package com.github.apportion.yarn;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.impl.AMRMClientImpl;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.util.Records;

/** A ResourceManager as a master's connection shows it, which says what a test has it say and writes down what it is told. */
final class FakeRM extends AMRMClientImpl<ContainerRequest> {
  static final ApplicationId APPLICATION = ApplicationId.newInstance(1, 42);

  /** What it was told: {@code ask NUMBER HOST}, {@code take back NUMBER}, {@code release ID}, {@code end STATUS WHY}. */
  final List<String> told = new ArrayList<>();

  /** What the next heartbeats bring. */
  final List<Container> grants = new ArrayList<>();

  final List<ContainerStatus> ends = new ArrayList<>();

  /** What a registration finds. */
  final List<Container> left = new ArrayList<>();

  /** The token that heartbeats put in the place of the one before; null: none. */
  volatile Token<AMRMTokenIdentifier> rolled;

  /** What the next heartbeat fails by; null: nothing. */
  private Exception fault;

  private int registrations;

  static Container container(long id, long number, String host, int port) {
    Container c =
        Container.newInstance(
            ContainerId.newContainerId(ApplicationAttemptId.newInstance(APPLICATION, 1), id),
            NodeId.newInstance(host, port),
            host + ":80",
            Resource.newInstance(128, 1),
            Priority.newInstance(1),
            null);
    c.setAllocationRequestId(number);
    return c;
  }

  static ContainerStatus ended(Container c, int exit, String why) {
    return ContainerStatus.newInstance(c.getId(), ContainerState.COMPLETE, why, exit);
  }

  // It is used for one connection after the other, which a service of Hadoop's cannot be.
  @Override
  public void init(Configuration conf) {}

  @Override
  public void start() {}

  @Override
  public void stop() {}

  @Override
  public synchronized RegisterApplicationMasterResponse registerApplicationMaster(String host, int port, String url) throws IOException {
    if (UserGroupInformation.getCurrentUser().getTokens().isEmpty()) {
      throw new IOException("SIMPLE authentication is not enabled");
    }
    registrations++;
    RegisterApplicationMasterResponse response = Records.newRecord(RegisterApplicationMasterResponse.class);
    response.setContainersFromPreviousAttempts(new ArrayList<>(left));
    return response;
  }

  @Override
  public synchronized AllocateResponse allocate(float progress) throws YarnException, IOException {
    Exception now = fault;
    fault = null;
    if (now instanceof YarnException) {
      throw (YarnException) now;
    }
    if (now instanceof RuntimeException) {
      throw (RuntimeException) now;
    }
    if (now != null) {
      throw new IOException(now);
    }
    if (rolled != null) {
      UserGroupInformation.getCurrentUser().addToken(rolled);
    }
    AllocateResponse response = Records.newRecord(AllocateResponse.class);
    response.setAllocatedContainers(new ArrayList<>(grants));
    response.setCompletedContainersStatuses(new ArrayList<>(ends));
    grants.clear();
    ends.clear();
    return response;
  }

  @Override
  public synchronized void unregisterApplicationMaster(FinalApplicationStatus status, String why, String url) {
    told.add("end " + status + " " + why);
  }

  @Override
  public synchronized void addContainerRequest(ContainerRequest r) {
    told.add("ask " + r.getAllocationRequestId() + " " + String.join(",", r.getNodes()) + (r.getRelaxLocality() ? " or elsewhere" : ""));
  }

  @Override
  public synchronized void removeContainerRequest(ContainerRequest r) {
    told.add("take back " + r.getAllocationRequestId());
  }

  @Override
  public synchronized void releaseAssignedContainer(ContainerId id) {
    told.add("release " + id.getContainerId());
  }

  /** Has the next heartbeats bring a container. */
  synchronized void grant(Container c) {
    grants.add(c);
  }

  /** Has the next heartbeat bring the end of a container. */
  synchronized void end(ContainerStatus s) {
    ends.add(s);
  }

  /** Has the next heartbeat fail. */
  synchronized void fail(Exception e) {
    fault = e;
  }

  /** Reports whether it was told something. */
  synchronized boolean was(String what) {
    return told.contains(what);
  }

  synchronized Exception fault() {
    return fault;
  }

  synchronized int registrations() {
    return registrations;
  }
}
