/** The digests where people read them: the documentation, and the newest section of the changelog. */

/**
 * The text with the digests of now. Only what stands before the second `## ` is changed: what was
 * released stays.
 * @param {string} text
 * @param {Record<string, string>} digests by what stands before them
 * @param {string} name of the file, for the complaint
 */
export function withDigests(text, digests, name) {
  const second = text.indexOf("\n## ", text.indexOf("\n## ") + 1);
  const [newest, older] = second < 0 ? [text, ""] : [text.slice(0, second), text.slice(second)];
  let made = newest;
  for (const [label, digest] of Object.entries(digests)) {
    const line = new RegExp(`(?<=${label}:\\s+\`)[0-9a-f]*(?=\`)`);
    if (!line.test(made)) throw new Error(`${name}: its first section needs "${label}: \`\`"`);
    made = made.replace(line, digest);
  }
  return made + older;
}
