// Opens the list of pages where there is room for it, and puts the playground into the first page when somebody asks for it.
"use strict";
const menu = document.getElementById("menu"), room = matchMedia("(min-width: 60rem)");
const fit = () => { menu.open = room.matches; };
room.addEventListener("change", fit);
fit();
const play = document.getElementById("play");
if (play && location.protocol.startsWith("http")) {
  play.addEventListener("click", (event) => {
    event.preventDefault();
    const frame = document.createElement("iframe");
    frame.src = "playground/index.html";
    frame.title = "playground";
    play.replaceWith(frame);
    frame.focus();
  });
}
