/** Elements from data. All text goes in as text nodes, so that none of it is ever markup. */

/** @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`this page has no element ${id}`);
  return found;
}

/**
 * A new element. `properties` are the element's own (className, htmlFor, …); those that it does not
 * have (aria-label, role, …) become attributes.
 * @param {string} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node | string)} children
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/**
 * A new SVG element.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 */
export function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/**
 * Show one of several parts of the page.
 * @param {readonly HTMLElement[]} parts
 * @param {HTMLElement | null} shown
 */
export function showOnly(parts, shown) {
  for (const part of parts) part.hidden = part !== shown;
}

/**
 * A message that people and screen readers notice; an empty one goes away.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function tell(place, text) {
  place.textContent = text;
  place.hidden = !text;
}

/**
 * A number for people: at most this many decimals, no trailing zeros.
 * @param {number} value
 * @param {number} [decimals]
 */
export function shown(value, decimals = 2) {
  return value.toLocaleString("en", { maximumFractionDigits: decimals });
}

/** "1 report", "2,000 reports" @param {number} number @param {string} thing */
export function quantity(number, thing) {
  return `${shown(number)} ${number === 1 ? thing : `${thing}s`}`;
}

/**
 * A cell of a table that becomes a list on a phone: there each cell carries its column's name.
 * @param {string} name
 * @param {string} text
 */
export function cell(name, text) {
  return element(
    "td",
    { role: "cell" },
    element("span", { className: "name", "aria-hidden": "true" }, name),
    element("span", { dir: "auto" }, text),
  );
}
