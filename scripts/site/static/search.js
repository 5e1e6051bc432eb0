// SPDX-License-Identifier: Apache-2.0
// Gives Sphinx's search the text of a page in place of the page, which a browser lets no script
// fetch from a disk.
"use strict";

const fetchPage = window.fetch;
window.fetch = (address, ...rest) => {
    const page = Object.keys(pageTexts)
        .filter((name) => `${address}`.split("#")[0].endsWith(`${name}.html`))
        .sort((one, other) => other.length - one.length)[0];
    if (page === undefined) {
        return fetchPage(address, ...rest);
    }
    const main = document.createElement("div");
    main.setAttribute("role", "main");
    main.textContent = pageTexts[page];
    return Promise.resolve(new Response(main.outerHTML));
};
