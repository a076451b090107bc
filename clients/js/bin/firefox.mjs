/**
 * For tests: the worker's path and a requester's sign-in in Firefox, driven by WebDriver BiDi.
 *
 *   node bin/firefox.mjs FIREFOX LINK SITE KEY
 */
import puppeteer from "puppeteer-core";

const [executablePath, link, site, key] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  const page = await browser.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => dialog.accept()); // "leave this page?"
  const text = (/** @type {string} */ selector) =>
    page.$eval(selector, (found) => found.textContent ?? "");
  const click = (/** @type {string} */ selector) => page.locator(selector).click();

  await page.goto(link);
  await click('#tasks input[value="3"]');
  await page.waitForSelector("#draft:not(:empty)");
  await page.reload();
  await page.waitForSelector("#tasks :checked");
  await click("#survey .primary");
  await page.waitForSelector("#review:not([hidden])");
  const answered = await text("#rows td span:last-child");
  const body = await text("#body");
  await click("#back");
  await page.waitForSelector("#survey:not([hidden])");
  await click("#survey .primary");
  await page.waitForSelector("#review:not([hidden])");
  const again = await text("#body");
  await click("#send");
  await page.waitForSelector("#done:not([hidden])");

  await page.goto(site);
  await page.locator("#key").fill(key);
  await click("#sign-in-form .primary");
  await page.waitForSelector("#list:not([hidden])");
  const agent = await page.evaluate(() => navigator.userAgent);
  console.log(JSON.stringify({ agent, answered, same: body === again, complaints }));
} finally {
  await browser.close();
}
