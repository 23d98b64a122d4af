/**
 * An application master that follows a controller's decisions and does nothing else, to be copied from or to be used as it is.
 */
package com.github.apportion.yarn.example;
