// SPDX-License-Identifier: Apache-2.0
// The view by three.js: z is up; dragging turns, with shift or another button moves; the wheel or two fingers zoom.
'use strict';

class Stage {
  constructor(pane) {
    const T = THREE;
    this.pane = pane;
    // Logarithmic depths serve a nozzle of centimetres and a path of kilometres. The sky is that of the page.
    this.renderer = new T.WebGLRenderer({antialias: true, logarithmicDepthBuffer: true, preserveDrawingBuffer: true, alpha: true});
    this.renderer.setPixelRatio(window.devicePixelRatio);
    pane.appendChild(this.renderer.domElement);
    this.scene = new T.Scene();
    this.camera = new T.PerspectiveCamera(45, 1, 0.1, 1e6);
    this.camera.up.set(0, 0, 1);
    this.target = new T.Vector3();
    this.named = new Map();
    this.fingers = new Map();
    for (const kind of ['down', 'move', 'up', 'cancel']) {
      this.renderer.domElement.addEventListener(`pointer${kind}`, event => this.drag(kind, event));
    }
    this.renderer.domElement.addEventListener('contextmenu', event => event.preventDefault());
    this.renderer.domElement.addEventListener('wheel', event => { event.preventDefault(); this.zoom(1.001 ** event.deltaY); }, {passive: false});
    new ResizeObserver(() => this.fit()).observe(pane);
    this.fit();
    const next = () => { requestAnimationFrame(next); this.render(); };
    next();
  }

  // Add an object under a name, in place of the one that had it.
  set(name, object) {
    if (this.named.has(name)) this.scene.remove(this.named.get(name));
    this.named.set(name, object);
    this.scene.add(object);
    this.changed = true;
  }

  fit() {
    const width = this.pane.clientWidth || 1, height = this.pane.clientHeight || 1;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.changed = true;
  }

  render() {
    if (!this.changed) return;
    this.changed = false;
    this.camera.lookAt(this.target);
    if (this.scene.fog) this.scene.fog.far = 20 * (this.scene.fog.near = this.camera.position.distanceTo(this.target));
    this.renderer.render(this.scene, this.camera);
  }

  drag(kind, event) {
    const before = this.fingers.get(event.pointerId), now = {x: event.clientX, y: event.clientY};
    if (kind === 'up' || kind === 'cancel') this.fingers.delete(event.pointerId);
    else if (kind === 'down') {
      event.target.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, now);
    } else if (before) {
      const apart = () => { const [a, b] = [...this.fingers.values()]; return Math.hypot(a.x - b.x, a.y - b.y) || 1; };
      const was = this.fingers.size > 1 ? apart() : 0;
      this.fingers.set(event.pointerId, now);
      const x = (now.x - before.x) / this.pane.clientHeight, y = (now.y - before.y) / this.pane.clientHeight;
      if (was) this.zoom(was / apart());
      if (was || event.shiftKey || event.buttons & 6) this.move(x, y); else this.turn(x, y);
    }
  }

  turn(x, y) {
    const offset = this.camera.position.clone().sub(this.target), length = offset.length();
    const around = Math.atan2(offset.y, offset.x) - 2 * Math.PI * x;
    const down = Math.min(Math.max(Math.acos(offset.z / length) - Math.PI * y, 0.01), Math.PI - 0.01);
    offset.set(Math.sin(down) * Math.cos(around), Math.sin(down) * Math.sin(around), Math.cos(down)).multiplyScalar(length);
    this.camera.position.copy(this.target).add(offset);
    this.changed = true;
  }

  move(x, y) {
    const seen = 2 * Math.tan(Math.PI * this.camera.fov / 360) * this.camera.position.distanceTo(this.target);
    const shift = new THREE.Vector3(-x * seen, y * seen, 0).applyQuaternion(this.camera.quaternion);
    this.camera.position.add(shift);
    this.target.add(shift);
    this.changed = true;
  }

  zoom(factor) {
    this.camera.position.sub(this.target).multiplyScalar(factor).add(this.target);
    this.changed = true;
  }
}
