package com.github.apportion.yarn;

import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;

/** Where a {@link Master} has its connections from; tests have others than Hadoop's. */
interface Clients {
  /** Those of Hadoop. */
  Clients HADOOP = new Clients() {};

  /** Makes a client of the ResourceManager for users. */
  default YarnClient yarn() {
    return YarnClient.createYarnClient();
  }

  /** Makes a client of the ResourceManager for application masters. */
  default AMRMClient<ContainerRequest> rm() {
    return AMRMClient.createAMRMClient();
  }

  /** Makes a client of NodeManagers. */
  default NMClient nm() {
    return NMClient.createNMClient();
  }
}
