package com.github.apportion.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

/** Tests the words of a holder that holds nothing, and what it reads from orders. */
public class HolderTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static JsonNode say(String line) throws IOException {
    return JSON.readTree(new Holder(new Configuration(false), Clients.HADOOP, new Tokens(Path.of("nowhere")), "x", 100).answer(line));
  }

  /** Every line is answered, with its own id. */
  @Test
  public void everyLineIsAnswered() throws IOException {
    JsonNode list = say("{\"id\":7,\"op\":\"list\"}");
    assertEquals(7, list.path("id").asInt());
    assertTrue(list.path("jobs").isObject());
    assertTrue(list.path("error").isMissingNode());
    for (String op : new String[] {"start", "stop", "end"}) {
      JsonNode answer = say("{\"id\":8,\"job\":\"lr\",\"op\":\"" + op + "\"}");
      assertEquals(8, answer.path("id").asInt());
      assertTrue(answer.path("error").asText(), answer.path("error").asText().contains("lr is not open"));
    }
    assertTrue(say("{\"id\":9,\"op\":\"dance\"}").path("error").asText().contains("dance"));
    assertTrue(say("not json").hasNonNull("error"));
  }

  /** A task is what one container takes and runs; server and rank are told by variables. */
  @Test
  public void aTaskIsRead() throws IOException {
    Task task =
        new Task(
            JSON.readTree(
                "{\"memory\":500,\"vcores\":2,\"command\":\"exec x\",\"server_variable\":\"S\",\"rank_variable\":\"R\"}"));
    assertEquals(500, task.demand.getMemorySize());
    assertEquals(2, task.demand.getVirtualCores());
    assertEquals("exec x", task.command);
    assertEquals(Map.of("S", "n1:1", "R", "4"), task.environmentOf(new Entry(1, 4, "n1:1", Entry.State.WANTED)));
  }
}
