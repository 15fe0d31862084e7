// SPDX-License-Identifier: Apache-2.0
// The page of a running graph: each event is one picture; every second one has the newest point of every line.

const LIVE_POINTS = 300;

class LivePage {
  constructor(data) {
    this.data = data;
    this.scene = new RobotScene(byId('pane'), data);
    this.scene.addPath([new this.scene.three.Vector3()]);
    this.track = [];
    this.histories = new Map();
    document.querySelector('footer').remove();
    byId('title').textContent = document.title = data.title;
    byId('source').textContent = 'live';
    showTexts(data, this.scene);
    wireView(this.scene);
    this.scene.use('follow');
    byId('clock').textContent = 'waiting for topics';
    const source = new EventSource(`/events${location.search}`);
    source.addEventListener('message', event => this.take(JSON.parse(event.data)));
    source.addEventListener('error', () => { byId('phase').textContent = 'no connection'; });
  }

  take(frame) {
    if (this.time !== undefined && frame.time < this.time - 0.5) {
      // The simulation has restarted.
      this.track = [];
      this.histories.clear();
    }
    const before = this.track[this.track.length - 1];
    this.time = frame.time;
    document.documentElement.dataset.time = frame.time.toFixed(3);
    const last = {time: frame.time, position: frame.position};
    this.track.push(last);
    if (this.track.length > 3000) this.track.shift();
    const elapsed = before ? last.time - before.time : 0;
    const velocity = elapsed > 0 ? last.position.map((value, i) => (value - before.position[i]) / elapsed) : [0, 0, 0];
    const points = this.track.map(each => new this.scene.three.Vector3().fromArray(each.position));
    this.scene.setTrack(points);
    this.scene.draw({
      index: points.length - 1, position: frame.position, quaternion: frame.quaternion, joints: frame.joints, velocity, canopies: frame.canopies,
      arrows: frame.arrows.map(([origin, direction, length, shade]) => ({origin, direction, length, shade})),
    });
    byId('clock').textContent = `${frame.time.toFixed(2)} s`;
    byId('phase').textContent = [frame.phase, ...frame.events].filter(Boolean).join(' · ');
    byId('phase').style.background = phaseColour(frame.phase);
    showValues(frame.isKnown ? frame.position : null, velocity);
    if (frame.plots) this.plot(frame);
  }

  // New arrays each time, as plotly ignores changes in an array that it has drawn.
  history(plot, line) {
    const {time, value} = this.histories.get(JSON.stringify([plot.title, line.name, line.command]));
    return {time: time.slice(), value: value.slice()};
  }

  plot(frame) {
    for (const plot of frame.plots) {
      for (const line of plot.lines) {
        const key = JSON.stringify([plot.title, line.name, line.command]);
        if (!this.histories.has(key)) this.histories.set(key, {time: [], value: []});
        const history = this.histories.get(key);
        history.time.push(frame.time);
        history.value.push(line.value);
        if (history.time.length > LIVE_POINTS) { history.time.shift(); history.value.shift(); }
      }
    }
    const shape = JSON.stringify(frame.plots.map(plot => [plot.title, plot.lines.map(line => [line.name, line.command])]));
    // Plots take longer than the robot, so they are drawn twice a second.
    if (shape === this.shape && performance.now() - this.drawn < 500) return;
    this.drawn = performance.now();
    const plots = frame.plots.map(plot => ({...plot, marks: [], lines: plot.lines.map(line => (
      {...line, ...this.history(plot, line)}))}));
    const begin = this.track[0].time, window = [Math.max(begin, frame.time - 60), Math.max(frame.time, begin + 1)];
    try {
      this.drawPlots(plots, shape, window);
      this.plots.show(frame.time);
    } catch (error) {
      // An error of the library must not stop the robot; the next picture begins with new plots.
      this.shape = undefined;
      console.warn('plots are drawn anew:', error);
    }
  }

  drawPlots(plots, shape, window) {
    if (shape === this.shape) {
      this.plots.redraw(plots, window);
      return;
    }
    this.shape = undefined;
    document.querySelectorAll('.plot').forEach(area => Plotly.purge(area));
    byId('plots').replaceChildren();
    this.plots = new Plots(byId('plots'), {...this.data, plots, begin: window[0], end: window[1]}, () => {});
    this.shape = shape;
  }
}
