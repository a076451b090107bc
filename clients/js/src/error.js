/** The one error that is meant for people: what was wrong, where, what to do. */
export class ForsoothError extends Error {
  /**
   * @param {string} message for people
   * @param {string} [code] for programs: "refused" (a bad mechanism), "weaker" (it
   *   protects less than demanded), "repeated" and "spent" (a cap), "answered", "changed", "input"
   *   (bad answers), "storage", "unreachable", or what the service says ("already-reported", …)
   */
  constructor(message, code = "refused") {
    super(message);
    this.name = "ForsoothError";
    this.code = code;
  }
}
