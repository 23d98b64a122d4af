/**
 * Holds unmanaged application masters of YARN for a scheduler that decides elsewhere which containers of which application
 * are where.
 *
 * <p>{@link com.github.apportion.yarn.Holder} is the program: it reads orders as lines of JSON from its standard input and
 * answers on its standard output. {@link com.github.apportion.yarn.Master} is one application master, with its own
 * connections and tokens; {@link com.github.apportion.yarn.Book} is what is known of its containers.
 */
package com.github.apportion.yarn;
