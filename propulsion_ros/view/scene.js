// SPDX-License-Identifier: Apache-2.0
// The robot in 3D.

// Colours of the ground or the surface, and of large and small squares on it.
const SOIL = {air: [0xc3cbb8, 0x7c8974, 0x9da798], surface: [0x8fb6c9, 0x5a87a0, 0x769fb5], water: [0x7fa9a6, 0x4e7f85, 0x639499]};
// Where a name stands about its dot in a picture of 1024 by 128: alignment, x and y.
const NAMED = {left: ['right', 488, 76], right: ['left', 520, 76], below: ['center', 512, 114]};

class RobotScene {
  constructor(pane, data) {
    this.three = THREE;
    const T = this.three;
    this.size = data.robot.size;
    this.level = data.robot.medium === 'surface' ? data.robot.level : null;
    this.soil = SOIL[data.robot.medium];
    pane.classList.add(data.robot.medium);
    this.stage = new Stage(pane);
    if (data.robot.medium === 'water') this.stage.scene.fog = new T.Fog(0x5c9fb5);
    this.addSurroundings();
    this.addRobot(data.robot);
    this.addArrows(data);
    this.addCanopies(data.canopies);
    this.addMotes();
    this.body = new T.Vector3();
    this.follows = true;
  }

  // Fixed surroundings.

  addSurroundings() {
    const T = this.three;
    const sky = new T.HemisphereLight(0xffffff, 0x9a9488, 0.75);
    sky.position.set(0, 0, 1);
    const sun = new T.DirectionalLight(0xffffff, 0.55);
    sun.position.set(3, -4, 6);
    const fill = new T.DirectionalLight(0xffffff, 0.2);
    fill.position.set(-5, 2, 1);
    [sky, sun, fill].forEach((light, i) => this.stage.set(`light ${i}`, light));
  }

  addGround(points) {
    const T = this.three;
    const box = new T.Box3().setFromPoints(points);
    const extent = Math.max(box.max.x - box.min.x, box.max.y - box.min.y, 0.4 * (box.max.z - box.min.z), 4 * this.size);
    const decade = 10 ** Math.floor(Math.log10(extent / 10));
    this.cell = Number((decade * [1, 2, 5, 10].find(step => step * decade >= extent / 12)).toPrecision(1));
    const cells = 2 * Math.ceil(6 * extent / this.cell);
    const floor = this.level !== null ? this.level : box.min.z < -0.05 * this.size ? box.min.z - 1.5 * this.size : 0;
    const middle = box.getCenter(new T.Vector3());
    const grid = this.squares(this.cell, cells, this.soil[1], 0.7);
    const snap = value => this.cell * Math.round(value / this.cell);
    grid.position.set(snap(middle.x), snap(middle.y), floor);
    const plane = new T.Mesh(
      new T.CircleGeometry(30 * extent, 64), new T.MeshBasicMaterial({color: this.soil[0], side: T.DoubleSide, depthWrite: false}));
    plane.position.set(grid.position.x, grid.position.y, floor - 1e-3 * extent);
    // The plane is drawn first and hides nothing, as depths over many metres are too coarse for the lines on it.
    plane.renderOrder = -3;
    grid.renderOrder = -1;
    this.ground = floor;
    this.stage.set('plane', plane);
    this.stage.set('grid', grid);
    this.addPad();
  }

  // Lines that form squares. Each has many pieces, as software renderers drop a line that ends behind the camera.
  // They fade into the ground at the rim, which is no edge of anything.
  squares(edge, count, colour, opacity) {
    const T = this.three, at = i => edge * (i - count / 2), ends = [], colours = [], line = new T.Color(colour), ground = new T.Color(this.soil[0]);
    for (let i = 0; i <= count; i += 1) {
      for (let k = 0; k < count; k += 1) ends.push(at(i), at(k), 0, at(i), at(k + 1), 0, at(k), at(i), 0, at(k + 1), at(i), 0);
    }
    for (let i = 0; i < ends.length; i += 3) {
      const share = Math.hypot(ends[i], ends[i + 1]) / at(count);
      colours.push(...line.clone().lerp(ground, Math.min(Math.max(2 * share - 1, 0), 1)).toArray());
    }
    const geometry = new T.BufferGeometry().setAttribute('position', new T.Float32BufferAttribute(ends, 3));
    geometry.setAttribute('color', new T.Float32BufferAttribute(colours, 3));
    return new T.LineSegments(geometry, new T.LineBasicMaterial({vertexColors: true, transparent: true, opacity, depthWrite: false}));
  }

  // Squares as large as the robot, below it, as those of the grid are too large near the ground.
  addPad() {
    const edge = 10 ** Math.round(Math.log10(0.4 * this.size));
    this.square = Number(edge.toPrecision(1));
    this.pad = this.squares(edge, 60, this.soil[2], 1);
    this.pad.renderOrder = -2;
    this.stage.set('pad', this.pad);
    this.placePad = body => {
      this.pad.material.opacity = Math.min(Math.max(1.5 - (body.z - this.ground) / (20 * edge), 0), 1);
      this.pad.visible = this.follows && this.pad.material.opacity > 0;
      this.pad.position.set(edge * Math.round(body.x / edge), edge * Math.round(body.y / edge), this.ground);
    };
  }

  addPath(points) {
    const T = this.three;
    this.points = points;
    this.whole = new T.Box3().setFromPoints(points).expandByScalar(this.size);
    this.addGround(points);
    const geometry = new T.BufferGeometry().setFromPoints(points);
    const line = (colour, opacity, own) => new T.Line(own, new T.LineBasicMaterial({color: colour, transparent: true, opacity}));
    this.flown = line(0x1f5fbf, 1, geometry.clone());
    this.path = new T.Group();
    this.path.add(line(0x55708c, 0.45, geometry), this.flown);
    if (points.length > 3) {
      // Lines are a pixel wide, too thin from afar.
      const radius = 0.004 * this.whole.getSize(new T.Vector3()).length();
      const curve = new T.CatmullRomCurve3(points);
      curve.getPointAt = share => curve.getPoint(share);
      // A body at rest has no direction, and without one at its begin the tube would have no width anywhere.
      curve.getTangentAt = share => { const way = curve.getTangent(share); return way.lengthSq() ? way : way.set(0, 0, 1); };
      this.tube = new T.Mesh(new T.TubeGeometry(curve, points.length - 1, radius, 6), new T.MeshBasicMaterial({color: 0x1f5fbf}));
      this.tube.visible = false;
      this.path.add(this.tube);
    }
    this.path.children.forEach(each => { each.frustumCulled = false; });
    this.stage.set('path', this.path);
    const dot = new T.BufferGeometry().setFromPoints([new T.Vector3()]);
    this.dot = new T.Points(dot, new T.PointsMaterial({color: 0xe0218a, size: 11, map: this.disc(), transparent: true, sizeAttenuation: false, depthTest: false}));
    this.dot.visible = false;
    this.stage.set('dot', this.dot);
  }

  // Mark of a place: a dot with its name.
  addMark(name, point, side) {
    const mark = this.named(name, '#8c1d40', side, true);
    mark.position.copy(point);
    this.path.add(mark);
    return mark;
  }

  // A name of the same size at any distance.
  named(name, colour, side, hasDot) {
    const T = this.three, canvas = document.createElement('canvas'), pen = canvas.getContext('2d'), [align, ...at] = NAMED[side];
    canvas.width = 1024;
    canvas.height = 128;
    pen.font = '600 34px system-ui, sans-serif';
    pen.textAlign = align;
    pen.lineWidth = 6;
    pen.strokeStyle = '#fff';
    pen.fillStyle = colour;
    pen.beginPath();
    if (hasDot) pen.arc(512, 64, 11, 0, 2 * Math.PI);
    pen.stroke();
    pen.fill();
    pen.strokeText(name, ...at);
    pen.fillText(name, ...at);
    const sprite = new T.Sprite(new T.SpriteMaterial({map: new T.CanvasTexture(canvas), sizeAttenuation: false, depthTest: false}));
    sprite.scale.set(0.8, 0.1, 1);
    sprite.renderOrder = 6;
    return sprite;
  }

  // Fixed motes in the air around the body, as nothing else shows its speed far above the ground.
  addMotes() {
    const T = this.three, reach = 9 * this.size;
    const seats = Array.from({length: 240}, (_, i) => [0.7548776662, 0.5698402910, 0.4142135624].map(step => 2 * reach * ((i * step) % 1)));
    const geometry = new T.BufferGeometry().setAttribute('position', new T.BufferAttribute(new Float32Array(720), 3));
    this.motes = new T.Points(geometry, new T.PointsMaterial({color: 0xffffff, size: 0.12 * this.size, map: this.disc(), transparent: true, opacity: 0.85, depthWrite: false}));
    this.motes.frustumCulled = false;
    this.stage.set('motes', this.motes);
    this.placeMotes = body => {
      const ground = this.ground + 0.5 * this.size;
      const around = (seat, at) => at - reach + (((seat - at + reach) % (2 * reach)) + 2 * reach) % (2 * reach);
      seats.forEach((seat, i) => {
        const place = [around(seat[0], body.x), around(seat[1], body.y), around(seat[2], body.z)];
        // Motes in the ground are moved out of sight.
        geometry.attributes.position.setXYZ(i, ...(place[2] > ground ? place : [0, 0, -1e6]));
      });
      geometry.attributes.position.needsUpdate = true;
    };
  }

  isHigh(point) { return point.z > this.ground + 4 * this.size; }

  disc() {
    const canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
    canvas.width = canvas.height = 32;
    pen.fillStyle = '#fff';
    pen.arc(16, 16, 15, 0, 2 * Math.PI);
    pen.fill();
    return Object.assign(new this.three.CanvasTexture(canvas), {minFilter: this.three.LinearFilter});
  }

  setTrack(points) {
    const T = this.three;
    this.flown.geometry.dispose();
    this.flown.geometry = new T.BufferGeometry().setFromPoints(points);
    this.whole = new T.Box3().setFromPoints(points).expandByScalar(this.size);
    // The ground grows with the path.
    const reach = this.whole.getSize(new T.Vector3()).length();
    if (reach > 2 * (this.reach || 0)) {
      this.reach = reach;
      this.addGround(points);
    }
  }

  // Moving parts.

  place(object, at) {
    object.position.fromArray(at.position);
    object.quaternion.fromArray(at.quaternion);
  }

  addRobot(robot) {
    const T = this.three;
    this.root = new T.Group();
    this.frames = robot.frames.map(row => {
      const group = new T.Group();
      this.place(group, row);
      return {row, group, rest: group.quaternion.clone(), at: group.position.clone()};
    });
    this.frames.forEach(({row, group}) => (row.parent < 0 ? this.root : this.frames[row.parent].group).add(group));
    const meshes = robot.meshes.map(packed => this.unpack(packed));
    for (const shape of robot.shapes) {
      const object = this.shape(shape, meshes);
      this.place(object, shape);
      this.frames[shape.frame].group.add(object);
    }
    this.centre = new T.Vector3().fromArray(robot.centre);
    this.stage.set('robot', this.root);
  }

  unpack(packed) {
    const T = this.three;
    const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
    const geometry = new T.BufferGeometry();
    geometry.setAttribute('position', new T.BufferAttribute(new Float32Array(bytes(packed.points)), 3));
    geometry.setIndex(new T.BufferAttribute(new Uint32Array(bytes(packed.faces)), 1));
    // Flat shading of each triangle, as a file may share points across edges.
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
  }

  shape(shape, meshes) {
    const T = this.three, [a, b, c] = shape.size;
    const [red, green, blue, opacity] = shape.colour;
    const material = new T.MeshPhongMaterial({
      color: new T.Color(red, green, blue), opacity, transparent: opacity < 1, side: T.DoubleSide, shininess: 25,
    });
    const holder = new T.Group();
    let geometry;
    if (shape.kind === 'box') geometry = new T.BoxGeometry(a, b, c);
    else if (shape.kind === 'sphere') geometry = new T.SphereGeometry(a, 32, 20);
    else if (shape.kind === 'cylinder') geometry = new T.CylinderGeometry(a, a, b, 36).rotateX(Math.PI / 2);
    else geometry = meshes[shape.mesh];
    const mesh = new T.Mesh(geometry, material);
    holder.add(mesh);
    if (shape.kind === 'mesh') {
      mesh.scale.set(a, b, c);
    } else if (shape.kind !== 'sphere') {
      holder.add(new T.LineSegments(
        new T.EdgesGeometry(geometry, 40), new T.LineBasicMaterial({color: 0x26323f, transparent: true, opacity: 0.45})));
    }
    return holder;
  }

  addArrows(data) {
    const T = this.three;
    this.colours = data.palette.map(text => new T.Color(text));
    const shaft = new T.CylinderGeometry(0.5, 0.5, 1, 12).translate(0, 0.5, 0);
    const head = new T.ConeGeometry(1, 1, 16).translate(0, -0.5, 0);
    const profile = [[0.35, 0], [0.55, 0.08], [0.6, 0.2], [0.45, 0.5], [0.2, 0.8], [0, 1]].map(([r, y]) => new T.Vector2(r, y));
    const flame = new T.LatheGeometry(profile, 16);
    const jet = new T.ConeGeometry(1, 1, 16, 1, true).rotateX(Math.PI).translate(0, 0.5, 0);
    this.arrows = new T.Group();
    this.plumes = new T.Group();
    this.names = new T.Group();
    this.names.visible = false;
    this.root.add(this.arrows, this.plumes, this.names);
    this.drawn = data.arrows.map(arrow => {
      // Arrows are visible through the hull, as many actuators push from inside of it.
      const material = new T.MeshBasicMaterial({depthTest: false, transparent: true, opacity: 0.92});
      const parts = {text: arrow.name, width: arrow.shaft, flame: arrow.flame, material, arrow: new T.Group(), plume: new T.Group()};
      parts.shaft = new T.Mesh(shaft, material);
      parts.head = new T.Mesh(head, material);
      parts.arrow.add(parts.shaft, parts.head);
      parts.arrow.children.forEach(each => { each.renderOrder = 5; });
      this.arrows.add(parts.arrow);
      if (arrow.plume) {
        const layer = (colour, opacity) => new T.Mesh(arrow.flame ? flame : jet, new T.MeshBasicMaterial({
          color: colour, transparent: true, opacity, depthWrite: false, side: T.DoubleSide}));
        parts.plume.add(layer(arrow.plume, arrow.flame ? 0.6 : 0.38));
        if (arrow.flame) {
          const core = layer(0xfff2a8, 0.9);
          core.scale.set(0.55, 0.6, 0.55);
          parts.plume.add(core);
        }
        this.plumes.add(parts.plume);
      }
      return parts;
    });
  }

  drawArrow(parts, arrow) {
    const T = this.three;
    const isNamed = this.names.visible && this.follows && arrow.length > 0.05 * this.size;
    if (isNamed && !parts.name) {
      this.names.add(parts.name = this.named(parts.text, '#1d2733', 'right', false));
      parts.name.scale.multiplyScalar(0.7);
    }
    if (parts.name) parts.name.visible = isNamed;
    const shown = arrow.length > 0.01 * this.size;
    parts.arrow.visible = parts.plume.visible = shown;
    if (!shown) return;
    const along = new T.Vector3().fromArray(arrow.direction).normalize();
    const up = new T.Vector3(0, 1, 0);
    parts.arrow.position.fromArray(arrow.origin);
    if (isNamed) parts.name.position.copy(parts.arrow.position).addScaledVector(along, arrow.length);
    parts.arrow.quaternion.setFromUnitVectors(up, along);
    parts.material.color.copy(this.colours[arrow.shade]);
    const width = Math.min(parts.width, 0.25 * arrow.length), head = Math.min(3.2 * width, 0.5 * arrow.length);
    parts.shaft.scale.set(width, arrow.length - head, width);
    parts.head.scale.set(1.25 * width, head, 1.25 * width);
    parts.head.position.y = arrow.length;
    parts.plume.position.fromArray(arrow.origin);
    parts.plume.quaternion.setFromUnitVectors(up, along.negate());
    const wide = parts.flame ? 0.14 * arrow.length + 0.4 * parts.width : 0.16 * arrow.length;
    parts.plume.scale.set(wide, arrow.length, wide);
  }

  addCanopies(canopies) {
    const T = this.three;
    const dome = new T.SphereGeometry(1, 36, 10, 0, 2 * Math.PI, 0, Math.PI / 2).rotateX(Math.PI / 2).toNonIndexed();
    const at = dome.attributes.position, colours = [];
    for (let i = 0; i < at.count; i += 3) {
      const x = at.getX(i) + at.getX(i + 1) + at.getX(i + 2), y = at.getY(i) + at.getY(i + 1) + at.getY(i + 2);
      const gore = Math.floor((Math.atan2(y, x) / Math.PI + 1) * 6 + 1e-3) % 2;
      for (let k = 0; k < 3; k += 1) colours.push(...(gore ? [0.93, 0.35, 0.13] : [0.98, 0.97, 0.94]));
    }
    dome.setAttribute('color', new T.Float32BufferAttribute(colours, 3));
    const rim = [];
    for (let i = 0; i < 12; i += 1) {
      const angle = i * Math.PI / 6;
      rim.push(new T.Vector3(Math.cos(angle), Math.sin(angle), 0), new T.Vector3(0, 0, -1));
    }
    this.canopies = canopies.map((canopy, i) => {
      const group = new T.Group();
      group.add(
        new T.Mesh(dome, new T.MeshLambertMaterial({vertexColors: true, side: T.DoubleSide})),
        new T.LineSegments(new T.BufferGeometry().setFromPoints(rim), new T.LineBasicMaterial({color: 0x39424d})));
      group.visible = false;
      this.stage.set(`canopy ${i}`, group);
      return {group, attachment: new T.Vector3().fromArray(canopy.attachment)};
    });
  }

  drawCanopies(radii, velocity) {
    const T = this.three;
    const against = new T.Vector3().fromArray(velocity).negate();
    const isLying = against.length() < 0.3 && this.root.position.z < this.ground + 2 * this.size;
    if (against.length() < 0.3) against.set(0, 0, 1);
    against.normalize();
    let above = 0;
    this.canopies.forEach(({group, attachment}, i) => {
      const radius = radii[i];
      group.visible = radius > 1e-3;
      if (!group.visible) return;
      group.scale.setScalar(radius);
      group.quaternion.setFromUnitVectors(new T.Vector3(0, 0, 1), against);
      const tie = attachment.clone().applyQuaternion(this.root.quaternion).add(this.root.position);
      // Parachutes are above each other, each with lines down to the robot.
      const height = above + 1.5 * radius;
      if (isLying) {
        // A landed parachute lies behind the robot, flat on the ground.
        const fall = new T.Vector3(0.4, 1, 0).setLength(above + radius + 0.3 * this.size).setZ(this.ground - tie.z);
        group.position.copy(tie).add(fall);
        group.quaternion.identity();
        group.scale.z = 0.08 * radius;
      } else group.position.copy(tie).addScaledVector(against, height);
      group.children[1].visible = !isLying;
      group.children[1].scale.z = height / radius;
      above += radius;
    });
  }

  draw(frame) {
    const T = this.three;
    this.frame = frame;
    this.root.position.fromArray(frame.position);
    this.root.quaternion.fromArray(frame.quaternion);
    for (const {row, group, rest, at} of this.frames) {
      if (row.joint === undefined) continue;
      const axis = new T.Vector3().fromArray(row.axis), value = frame.joints[row.joint] || 0;
      if (row.turns) group.quaternion.copy(rest).multiply(new T.Quaternion().setFromAxisAngle(axis, value));
      else group.position.copy(at).add(axis.multiplyScalar(value).applyQuaternion(rest));
    }
    frame.arrows.forEach((arrow, i) => this.drawArrow(this.drawn[i], arrow));
    this.drawCanopies(frame.canopies, frame.velocity);
    const body = this.centre.clone().applyQuaternion(this.root.quaternion).add(this.root.position);
    const target = body.clone();
    if (this.canopies.length) target.z += 0.4 * this.size;
    if (this.follows) this.carry(target);
    this.body = body;
    if (this.dot) this.dot.position.copy(body);
    this.motes.visible = this.follows && this.isHigh(body);
    if (this.motes.visible) this.placeMotes(body);
    if (this.pad) this.placePad(body);
    if (this.flown) this.flown.geometry.setDrawRange(0, frame.index + 1);
    if (this.tube) this.tube.geometry.setDrawRange(0, 36 * frame.index);
    if (this.key) this.key.textContent = this.surroundings();
    this.stage.changed = true;
  }

  // What the squares and dots are that are in view.
  surroundings() {
    const texts = [`squares: ${this.cell} m`];
    if (this.pad.visible && this.square !== this.cell) texts[0] += ` and ${this.square} m`;
    if (this.ground) texts[0] += `, at ${this.ground.toFixed(1)} m`;
    if (this.motes.visible) texts.push('white dots are at rest');
    if (!this.follows) texts.push('the pink dot is the robot');
    return texts.join(' · ');
  }

  // Draw the same again, as something else is in view.
  again() {
    if (this.frame) this.draw(this.frame);
    this.stage.changed = true;
  }

  carry(body) {
    const moved = body.clone().sub(this.stage.target);
    this.stage.camera.position.add(moved);
    this.stage.target.copy(body);
  }

  look(target, distance, from) {
    const {camera} = this.stage;
    camera.near = 1e-3 * this.size;
    this.stage.target.copy(target);
    camera.position.copy(target).addScaledVector(from.normalize(), distance);
    camera.updateProjectionMatrix();
    this.stage.changed = true;
  }

  use(mode) {
    const T = this.three;
    this.follows = mode === 'follow';
    if (this.dot) this.dot.visible = !this.follows;
    if (this.tube) this.tube.visible = !this.follows;
    if (this.start) this.start.visible = !this.follows;
    if (this.follows) {
      // Leave room for parachutes above the robot.
      this.look(this.body, (this.canopies.length ? 4.2 : 2.9) * this.size, new T.Vector3(0.9, -1, 0.38));
    } else {
      const sphere = this.whole.getBoundingSphere(new T.Sphere());
      this.look(sphere.center, 3 * sphere.radius, new T.Vector3(0.75, -1, 0.4));
    }
    this.again();
  }

  show(part, on) {
    if (this[part]) this[part].visible = on;
    this.again();
  }
}
