package com.github.apportion.yarn;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * The tokens by which masters speak to the ResourceManager, each in a file that nobody else may read. The ResourceManager gives
 * a token out until a master has registered, and never again while that attempt runs: the next holder has it from here. May be
 * called from any thread; no two for the same application at the same time.
 */
final class Tokens {
  private final Path folder;
  private final Map<ApplicationId, String> kept = new ConcurrentHashMap<>();

  /**
   * Makes the tokens in a folder.
   *
   * @param folder where they are, made when it is needed
   */
  Tokens(Path folder) {
    this.folder = folder;
  }

  /** Returns the token of an application that was kept last; null: there is none. */
  Token<AMRMTokenIdentifier> of(ApplicationId application) throws IOException {
    String text;
    try {
      text = Files.readString(file(application), StandardCharsets.US_ASCII);
    } catch (NoSuchFileException e) {
      return null;
    }
    Token<AMRMTokenIdentifier> token = new Token<>();
    token.decodeFromUrlString(text);
    return token;
  }

  /** Keeps a token, unless it is the one that is kept. */
  void keep(ApplicationId application, Token<?> token) throws IOException {
    String text = token.encodeToUrlString();
    if (text.equals(kept.get(application))) {
      return;
    }
    Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path made = Files.createTempFile(folder, application + ".", ".new", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      Files.writeString(made, text, StandardCharsets.US_ASCII);
      Files.move(made, file(application), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(made);
    }
    kept.put(application, text);
  }

  /** Forgets the token of an application that has ended. */
  void forget(ApplicationId application) throws IOException {
    kept.remove(application);
    Files.deleteIfExists(file(application));
  }

  private Path file(ApplicationId application) {
    return folder.resolve(application.toString());
  }
}
