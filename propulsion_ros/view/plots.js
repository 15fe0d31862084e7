// SPDX-License-Identifier: Apache-2.0
// Plots beside the robot, by plotly, with a cursor at the time that is shown.

const PLOT_COLOURS = ['#1f5fbf', '#d1342f', '#1b8a5a', '#d98200', '#7d3cc4', '#0d8fa3', '#c2387f', '#6b8e23',
  '#8c564b', '#4b5bd6', '#e07b39', '#2f4858', '#a03b5c', '#5f9ea0', '#b8860b', '#708090'];
const PLOT_PHASES = {setup: '#e4e7ea', preflight: '#dbe4f0', launch: '#f8e2a6', flight: '#c9e7d1', recovery: '#d3daf6'};
const phaseColour = name => PLOT_PHASES[name] || '#e7e2ec';
// Plotly interprets some HTML in texts.
const plain = text => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

class Plots {
  constructor(element, data, seek) {
    this.margin = {l: 56, r: 12, t: 4, b: 22};
    this.range = [data.begin, data.end];
    this.data = data;
    this.seek = seek;
    this.panels = data.plots.map((plot, i) => this.panel(element, plot, i));
  }

  panel(element, plot, number) {
    const section = document.createElement('section');
    section.className = 'panel';
    const title = document.createElement('h2');
    title.textContent = plot.title;
    const legend = document.createElement('div');
    legend.className = 'legend';
    const values = this.entries(legend, plot.lines);
    plot.marks.forEach(mark => this.markEntry(legend, mark));
    const area = document.createElement('div');
    area.className = 'plot';
    const cursor = document.createElement('div');
    cursor.className = 'cursor';
    section.append(title, legend, area);
    element.append(section);
    this.drawn(area, Plotly.newPlot(area, this.traces(plot), this.layout(plot, number), {displayModeBar: false, responsive: true, scrollZoom: true}));
    area.append(cursor);
    area.on('plotly_relayout', change => this.zoomed(area, change));
    const drag = event => { if (event.buttons & 1) this.seek(this.timeAt(area, event)); };
    area.addEventListener('pointerdown', drag);
    area.addEventListener('pointermove', drag);
    return {plot, area, cursor, values, ...this.written(plot, values)};
  }

  // Format of the values of a plot: three digits of the largest one, in a width that no value exceeds.
  written(plot, values) {
    const all = plot.lines.flatMap(line => line.value).filter(Number.isFinite);
    const largest = all.reduce((top, value) => Math.max(top, Math.abs(value)), 0);
    const places = largest < 1e-3 ? null : Math.max(2 - Math.floor(Math.log10(largest)), 0);
    // A rounding error of 0 is shown as 0.
    const text = value => places === null ? (Math.abs(value) < 1e-12 ? 0 : Number(value.toPrecision(3))).toString() : value.toFixed(places).replace(/^-(0\.?0*)$/, '$1');
    const wide = places === null || largest > 1e6 ? 8 : text(all.reduce((low, value) => Math.min(low, value), 0) < 0 ? -largest : largest).length;
    for (const value of values) value.style.minWidth = `${wide}ch`;
    return {text};
  }

  // Plotly draws asynchronously; a live page may have removed the plot by then.
  drawn(area, promise) {
    promise.catch(error => { if (area.isConnected) throw error; });
  }

  // Each name has its value beside it, and that of its command.
  entries(legend, lines) {
    const spans = new Map();
    const dashed = lines.find(line => line.command);
    if (dashed) {
      legend.innerHTML = '<span><i class="command"></i></span>';
      legend.firstChild.append(dashed.command);
    }
    return lines.map(line => {
      const swatch = document.createElement('i'), value = document.createElement('b');
      swatch.style.borderTopColor = this.colour(line);
      if (line.command) { swatch.className = 'command'; swatch.title = value.title = line.command; }
      const span = spans.get(line.name) || document.createElement('span');
      spans.set(line.name, span);
      span.append(swatch, span.textContent.length ? '' : `${line.name} ${line.command ? `${line.command} ` : ''}`, value);
      legend.append(span);
      return value;
    });
  }

  markEntry(legend, mark) {
    const span = document.createElement('span'), swatch = document.createElement('i');
    swatch.className = 'mark';
    swatch.style.width = swatch.style.height = `${this.markSize(mark)}px`;
    span.append(swatch, mark.name);
    legend.append(span);
  }

  markSize(mark) { return mark.name === 'apogee found' ? 8 : 4; }

  colour(line) { return PLOT_COLOURS[line.colour % PLOT_COLOURS.length]; }

  traces(plot) {
    const traces = plot.lines.map(line => ({
      x: line.time, y: line.value, name: plain(line.name), mode: 'lines', hoverinfo: 'none', connectgaps: false,
      line: {color: this.colour(line), width: line.command ? 1.4 : 1.8, dash: line.command ? 'dash' : 'solid', shape: line.command ? 'hv' : 'linear'},
    }));
    for (const mark of plot.marks) {
      traces.push({
        x: mark.time, y: mark.value, name: plain(mark.name), mode: 'markers', hoverinfo: 'name',
        marker: {color: '#c0392b', size: this.markSize(mark)},
      });
    }
    return traces;
  }

  layout(plot, number) {
    const spans = this.data.phases.map(([begin, end, name]) => ({
      type: 'rect', yref: 'paper', x0: begin, x1: end, y0: 0, y1: 1, fillcolor: phaseColour(name), opacity: 0.5, line: {width: 0}, layer: 'below',
    }));
    const ticks = this.data.events.map(([time]) => ({
      type: 'line', yref: 'paper', x0: time, x1: time, y0: 0, y1: 1, line: {color: '#46566a', width: 1, dash: 'dot'}, layer: 'below',
    }));
    const names = number ? [] : this.data.phases.map(([begin, end, name]) => ({
      x: 0.5 * (begin + end), y: 0.03, yref: 'paper', text: end - begin > 0.07 * (this.data.end - this.data.begin) ? plain(name) : '',
      showarrow: false, font: {size: 10, color: '#46566a'},
    }));
    return {
      margin: this.margin, showlegend: false, dragmode: false, shapes: [...spans, ...ticks], annotations: names,
      paper_bgcolor: '#fff', plot_bgcolor: '#fff', font: {size: 10.5, color: '#46566a'},
      xaxis: {range: [...this.range], zeroline: false, gridcolor: '#e3e7eb', ticksuffix: ' s', showticksuffix: 'last'},
      yaxis: {fixedrange: true, zeroline: false, gridcolor: '#e3e7eb', nticks: 5, ...(plot.range ? {range: plot.range} : {})},
    };
  }

  redraw(plots, range) {
    this.range = range;
    this.panels.forEach((panel, i) => {
      panel.plot = plots[i];
      panel.text = this.written(plots[i], panel.values).text;
      this.drawn(panel.area, Plotly.react(panel.area, this.traces(plots[i]), this.layout(plots[i], i)));
    });
  }

  zoomed(area, change) {
    const begin = change['xaxis.range[0]'], end = change['xaxis.range[1]'];
    const range = change['xaxis.autorange'] ? [this.data.begin, this.data.end] : begin === undefined ? null : [begin, end];
    if (!range || (range[0] === this.range[0] && range[1] === this.range[1])) return;
    this.range = range;
    for (const panel of this.panels) {
      if (panel.area !== area || change['xaxis.autorange']) Plotly.relayout(panel.area, {'xaxis.range': [...range]});
    }
    this.show(this.time);
  }

  timeAt(area, event) {
    const box = area.getBoundingClientRect(), width = box.width - this.margin.l - this.margin.r;
    const share = (event.clientX - box.left - this.margin.l) / width;
    return this.range[0] + Math.min(Math.max(share, 0), 1) * (this.range[1] - this.range[0]);
  }

  show(time) {
    this.time = time;
    const share = (time - this.range[0]) / (this.range[1] - this.range[0]);
    for (const {plot, area, cursor, values, text} of this.panels) {
      const width = area.clientWidth - this.margin.l - this.margin.r;
      cursor.style.left = `${this.margin.l + share * width - 1}px`;
      cursor.hidden = share < 0 || share > 1;
      plot.lines.forEach((line, i) => { values[i].textContent = this.valueAt(line, time, text); });
    }
  }

  valueAt(line, time, text) {
    let low = 0, high = line.time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (line.time[middle] <= time) low = middle + 1; else high = middle;
    }
    let value = low ? line.value[low - 1] : null;
    if (value === null || value === undefined) return '–';
    // As in the plot, a command is held, and other values are interpolated.
    const next = line.value[low];
    if (!line.command && next !== null && next !== undefined) {
      value += (next - value) * (time - line.time[low - 1]) / (line.time[low] - line.time[low - 1] || 1);
    }
    return text(value);
  }
}
