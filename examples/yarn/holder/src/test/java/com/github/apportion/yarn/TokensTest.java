package com.github.apportion.yarn;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Tests what is kept of tokens. */
public class TokensTest {
  private static final ApplicationId APPLICATION = ApplicationId.newInstance(1, 5);

  /** Where they are. */
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static Token<AMRMTokenIdentifier> token(String password) {
    return new Token<>(new byte[] {1}, password.getBytes(StandardCharsets.US_ASCII), AMRMTokenIdentifier.KIND_NAME, new Text("rm"));
  }

  /** What one holder has kept the next one reads, and nobody else. */
  @Test
  public void aTokenIsKept() throws IOException {
    Path place = folder.getRoot().toPath().resolve("tokens");
    Tokens tokens = new Tokens(place);
    assertNull(tokens.of(APPLICATION));
    tokens.keep(APPLICATION, token("a"));
    tokens.keep(APPLICATION, token("b"));
    Token<AMRMTokenIdentifier> read = new Tokens(place).of(APPLICATION);
    assertArrayEquals(token("b").getPassword(), read.getPassword());
    assertEquals(AMRMTokenIdentifier.KIND_NAME, read.getKind());
    Path file = place.resolve(APPLICATION.toString());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(place)));
    try (var files = Files.list(place)) {
      assertEquals("nothing else is left", 1, files.count());
    }
    tokens.forget(APPLICATION);
    assertFalse(Files.exists(file));
    tokens.keep(APPLICATION, token("b"));
    assertEquals("what was forgotten is kept again", token("b").encodeToUrlString(), Files.readString(file));
  }

  /** A token that is kept is not written with every heartbeat. */
  @Test
  public void theSameTokenIsWrittenOnce() throws IOException {
    Path place = folder.getRoot().toPath();
    Tokens tokens = new Tokens(place);
    tokens.keep(APPLICATION, token("a"));
    Files.delete(place.resolve(APPLICATION.toString()));
    tokens.keep(APPLICATION, token("a"));
    assertNull(tokens.of(APPLICATION));
  }

  /** What is no token is an error. */
  @Test
  public void nonsenseIsNoToken() throws IOException {
    Path place = folder.getRoot().toPath();
    Files.writeString(place.resolve(APPLICATION.toString()), "");
    assertThrows(IOException.class, () -> new Tokens(place).of(APPLICATION));
  }
}
