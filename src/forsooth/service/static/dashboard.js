/** The requester's page: sign in, the list, a new campaign, one campaign; #/… says which. */
import { call, key } from "./api.js";
import { beginForm, prepareForm } from "./create.js";
import { byId, element, showOnly, shown, tell } from "./dom.js";
import { isUnsaved, mayLeave } from "./invitations.js";
import { counted, prepareView, stopWatching, watch } from "./watch.js";

const problem = byId("problem");
const [signIn, list, form, campaign] = ["sign-in", "list", "new", "campaign"].map(byId);
const parts = [signIn, list, form, campaign];
let toInvite = 0; // for the campaign that has just been made
let here = ""; // what is shown

addEventListener("hashchange", move);
byId("sign-in-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key.keep(byId("key").value.trim());
  byId("key").value = "";
  route();
});
byId("sign-out").addEventListener("click", async () => {
  if (!(await mayLeave())) return;
  key.forget();
  location.hash = "#/";
  route();
});
prepareForm((made, invitations) => {
  toInvite = invitations;
  location.hash = `#/c/${made.id}`;
});
prepareView({ trouble, appear: () => show(campaign) });
route();

/** Go where the address says, unless links would be lost that nobody has kept. */
async function move() {
  const target = location.hash;
  if (target === here) return;
  if (isUnsaved()) {
    history.replaceState(null, "", here);
    if (!(await mayLeave())) return;
    history.replaceState(null, "", target || "#/");
  }
  route();
}

async function route() {
  here = location.hash;
  stopWatching();
  tell(problem, "");
  document.title = "forsooth";
  const signedIn = Boolean(key.get());
  byId("sign-out").hidden = !signedIn;
  const [, page, id] = location.hash.split("/");
  if (!signedIn) return show(signIn);
  if (page === "new") {
    beginForm();
    return show(form);
  }
  if (page === "c" && id) {
    const invitations = toInvite;
    toInvite = 0;
    showOnly(parts, null);
    return watch(id, invitations);
  }
  try {
    if (["edit", "copy"].includes(page) && id) {
      beginForm(await call(`/${id}/order`), page === "edit" ? id : "");
      return show(form);
    }
    showList(await call(""));
    show(list);
  } catch (error) {
    trouble(error);
  }
}

/** @param {HTMLElement} part */
function show(part) {
  showOnly(parts, part);
  if (part === signIn) byId("key").focus();
  else part.querySelector("h1").focus();
  scrollTo(0, 0);
}

/** Say what went wrong; a key that is not valid is forgotten. @param {any} error null: all is well */
function trouble(error) {
  if (error?.status === 401) {
    key.forget();
    byId("sign-out").hidden = true;
    stopWatching();
    show(signIn);
  }
  tell(problem, error?.message ?? "");
}

function showList({ campaigns }) {
  byId("none").hidden = campaigns.length > 0;
  byId("campaigns").hidden = campaigns.length === 0;
  byId("campaign-rows").replaceChildren(
    ...campaigns.map((each) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, element("a", { href: `#/c/${each.id}` }, each.title)),
        element("td", {}, each.state),
        element("td", { className: "number" }, counted(each)),
        ...[each.tasks, each.epsilon].map((value) =>
          element("td", { className: "number" }, shown(value, 4)),
        ),
      ),
    ),
  );
}
