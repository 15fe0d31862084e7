// SPDX-License-Identifier: Apache-2.0
// Time, controls and texts of the page.

const byId = id => document.getElementById(id);
const read = id => JSON.parse(byId(id).textContent);

function fail(error) {
  byId('failure').hidden = false;
  byId('failure').textContent = `This page cannot be shown: ${error && error.message ? error.message : error}`;
  document.documentElement.dataset.state = 'failed';
  console.error(error);
}

// Columns have one value for all frames, or one for each.
const at = (column, i) => column.length === 1 ? column[0] : column[i];

class Recording {
  constructor(data) {
    this.data = data;
    const {position, quaternion} = data.motion;
    this.rows = position.length / 3;
    this.position = i => position.slice(3 * (this.rows === 1 ? 0 : i), 3 * (this.rows === 1 ? 0 : i) + 3);
    this.quaternion = i => quaternion.slice(4 * (this.rows === 1 ? 0 : i), 4 * (this.rows === 1 ? 0 : i) + 4);
  }

  // State at a time: the body is interpolated between two frames, the rest is as in the earlier one.
  frame(time) {
    const {data} = this, last = data.count - 1;
    const place = Math.min(Math.max((time - data.begin) / data.step, 0), last);
    const i = Math.floor(place), k = Math.min(i + 1, last), share = place - i;
    const mix = (a, b) => a.map((value, j) => value + share * (b[j] - value));
    const a = this.position(i), b = this.position(k), p = this.quaternion(i), q = this.quaternion(k);
    const sign = p.reduce((sum, value, j) => sum + value * q[j], 0) < 0 ? -1 : 1;
    const turn = mix(p, q.map(value => sign * value)), length = Math.hypot(...turn) || 1;
    const before = this.position(Math.max(i - 1, 0)), elapsed = (k - Math.max(i - 1, 0)) * data.step || 1;
    const joints = {};
    for (const name of Object.keys(data.joints)) {
      const from = at(data.joints[name], i), to = at(data.joints[name], k);
      joints[name] = from + share * (to - from);
    }
    return {
      index: i, position: mix(a, b), quaternion: turn.map(value => value / length), joints,
      velocity: b.map((value, j) => (value - before[j]) / elapsed),
      arrows: data.arrows.map(arrow => ({
        origin: arrow.origin.map(column => at(column, i)), direction: arrow.direction.map(column => at(column, i)),
        length: at(arrow.length, i), shade: at(arrow.shade, i),
      })),
      canopies: data.canopies.map(canopy => at(canopy.radius, i)),
    };
  }

  path(T) {
    return Array.from({length: this.rows}, (_, i) => new T.Vector3(...this.position(i)));
  }
}

function showTexts(data, scene) {
  for (const note of data.notes) {
    const item = document.createElement('li');
    item.textContent = note;
    byId('notes').append(item);
  }
  if (data.arrows.length) {
    const scale = document.createElement('span');
    scale.className = 'scale';
    scale.style.background = `linear-gradient(90deg, ${data.palette.slice(0, -1).join(',')})`;
    byId('key').append('thrust: idle', scale, `at its limit${data.largest ? ` · longest arrow ${Number(data.largest.toPrecision(3))} N` : ''} · `);
  }
  for (const part of ['arrows', 'plumes', 'names']) {
    const has = part === 'plumes' ? data.arrows.some(arrow => arrow.plume) : data.arrows.length > 0;
    document.querySelector(`[data-part=${part}]`).parentNode.hidden = !has;
  }
  byId('key').append(scene.key = document.createElement('span'));
  for (const licence of read('licence-data')) {
    const title = document.createElement('h3'), text = document.createElement('pre');
    title.textContent = `${licence.name}: ${licence.use}`;
    text.textContent = licence.text;
    byId('texts').append(title, text);
  }
}

function wireView(scene) {
  for (const button of document.querySelectorAll('[data-camera]')) {
    button.addEventListener('click', () => {
      document.querySelectorAll('[data-camera]').forEach(each => each.classList.toggle('on', each === button));
      scene.use(button.dataset.camera);
    });
  }
  for (const box of document.querySelectorAll('[data-part]')) {
    box.addEventListener('change', () => scene.show(box.dataset.part, box.checked));
  }
  byId('show-licences').addEventListener('click', () => byId('licences').showModal());
  byId('close-licences').addEventListener('click', () => byId('licences').close());
}

// The position may be unknown.
function showValues(position, velocity) {
  const rows = position ? [
    ['height', `${position[2].toFixed(2).replace(/^-0\.00$/, '0.00')} m`],
    ['speed', `${Math.hypot(...velocity).toFixed(2)} m/s`],
  ] : [];
  const table = byId('values');
  while (table.rows.length < rows.length) { const row = table.insertRow(); row.insertCell(); row.insertCell(); }
  rows.forEach((row, i) => row.forEach((text, k) => { table.rows[i].cells[k].textContent = text; }));
}

class Page {
  constructor(data) {
    this.data = data;
    this.recording = new Recording(data);
    this.scene = new RobotScene(byId('pane'), data);
    const path = this.recording.path(this.scene.three);
    this.scene.addPath(path);
    this.mark(path);
    this.plots = new Plots(byId('plots'), data, time => { this.pause(); this.seek(time); });
    this.texts();
    this.controls();
    this.seek(data.begin);
    this.scene.use('follow');
    this.begin();
  }

  texts() {
    const {data} = this;
    byId('title').textContent = document.title = data.title;
    showTexts(data, this.scene);
    const length = data.end - data.begin || 1;
    for (const [begin, end, name] of data.phases) {
      const span = document.createElement('div');
      span.textContent = span.title = name;
      span.style.cssText = `left:${100 * (begin - data.begin) / length}%;width:${100 * (end - begin) / length}%;background:${phaseColour(name)}`;
      byId('spans').append(span);
      // A name that does not fit is not shown.
      new ResizeObserver(() => { span.textContent = name; if (span.scrollWidth > span.clientWidth) span.textContent = ''; }).observe(span);
    }
    this.ticks = [...data.events].sort((a, b) => a[0] - b[0]).map(([time, name]) => {
      const tick = document.createElement('span');
      tick.title = `${name}, ${time.toFixed(2)} s`;
      tick.addEventListener('click', () => this.seek(time));
      byId('ticks').append(tick);
      return {tick, name, share: (time - data.begin) / length};
    });
    new ResizeObserver(() => this.nameTicks()).observe(byId('ticks'));
    this.nameTicks();
  }

  // Each name is in the first of three rows where it touches no other; if none is free, only its tick is shown.
  nameTicks() {
    const whole = byId('ticks').clientWidth, ends = [-9, -9, -9];
    for (const {tick, name, share} of this.ticks) {
      tick.textContent = name;
      const wide = tick.offsetWidth, at = share * whole;
      const begin = Math.min(Math.max(at - wide / 2, 0), whole - wide);
      const row = ends.findIndex(end => begin > end + 6);
      if (row < 0) tick.textContent = '\u00a0';
      else ends[row] = begin + wide;
      const down = 13 * Math.max(row, 0), left = row < 0 ? at : begin;
      tick.style.cssText = `left:${left}px;top:${down}px;--at:${at - left}px;--rise:${17 + down}px`;
    }
  }

  // Mark the start, the apogee of a flight with a flight computer, and the place where it rests again.
  mark(path) {
    const {data} = this, height = point => `${(point.z - path[0].z).toFixed(0)} m`;
    if (!data.motion.is_known || path.length < 2) return;
    if (path.some(point => point.distanceTo(path[0]) > this.scene.size)) this.scene.start = this.scene.addMark('start', path[0], 'left');
    if (!data.phases.some(([, , name]) => name === 'flight')) return;
    const top = path.reduce((a, b) => (b.z > a.z ? b : a)), last = path[path.length - 1];
    if (top !== last) this.scene.addMark(`apogee ${height(top)}`, top, 'left');
    const rests = path.findIndex(point => point.distanceTo(last) < 0.1 * this.scene.size);
    if (top !== last && rests < path.length - 3) this.scene.addMark('landing', last, 'below');
  }

  controls() {
    const {data} = this, slider = byId('slider'), speed = byId('speed');
    slider.min = data.begin;
    slider.max = data.end;
    slider.addEventListener('input', () => { this.pause(); this.seek(Number(slider.value)); });
    const wanted = (data.end - data.begin) / 30;
    for (const value of [0.1, 0.25, 0.5, 1, 2, 5, 10, 50]) {
      speed.add(new Option(`${value}×`, value));
      if (value === 1 || (value > 1 && value / 2 <= wanted)) speed.value = value;
    }
    byId('play').addEventListener('click', () => (this.playing ? this.pause() : this.play()));
    document.addEventListener('keydown', event => {
      if (event.target.tagName === 'SELECT') return;
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (event.key === ' ' && event.target.tagName !== 'BUTTON') byId('play').click();
      else if (step) { this.pause(); this.seek(this.time + step * data.step); }
      else return;
      event.preventDefault();
    });
    wireView(this.scene);
  }

  begin() {
    // `page.html#t=12.5&camera=whole` sets time and camera; else it plays, unless reduced motion is preferred.
    const wanted = new URLSearchParams(location.hash.slice(1)), time = Number(wanted.get('t') || NaN);
    if (wanted.get('camera') === 'whole') document.querySelector('[data-camera=whole]').click();
    if (Number.isFinite(time)) this.seek(time);
    else if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.play();
  }

  seek(time) {
    const {data} = this;
    this.time = Math.min(Math.max(time, data.begin), data.end);
    byId('slider').value = this.time;
    document.documentElement.dataset.time = this.time.toFixed(3);
    const frame = this.recording.frame(this.time);
    this.scene.draw(frame);
    this.plots.show(this.time);
    byId('clock').textContent = `${this.time.toFixed(2)} s`;
    const phase = data.phases.find(([begin, end]) => begin <= this.time && this.time <= end);
    byId('phase').textContent = phase ? phase[2] : '';
    byId('phase').style.background = phase ? phaseColour(phase[2]) : '';
    showValues(data.motion.is_known ? frame.position : null, frame.velocity);
  }

  play() {
    this.playing = true;
    byId('play').textContent = '❚❚';
    if (this.time >= this.data.end) this.seek(this.data.begin);
    let before = performance.now();
    const tick = now => {
      if (!this.playing) return;
      this.seek(this.time + Number(byId('speed').value) * Math.min(now - before, 200) / 1000);
      before = now;
      if (this.time >= this.data.end) this.pause(); else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    byId('play').textContent = '▶';
  }
}

// Libraries are packed, a third of their size.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

async function start(nonce) {
  if (typeof DecompressionStream === 'undefined') throw new Error('the browser is older than 2023');
  for (const packed of document.querySelectorAll('script.library')) {
    const script = document.createElement('script');
    script.nonce = nonce;
    script.textContent = await unpack(packed.textContent);
    document.head.append(script);
    packed.remove();
  }
  const data = read('data');
  window.view = data.live ? new LivePage(data) : new Page(data);
  document.documentElement.dataset.state = 'ready';
}

start(document.currentScript.nonce).catch(fail);
