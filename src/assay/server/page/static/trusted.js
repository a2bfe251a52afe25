// @ts-check
// Says to the browser what of a page may become markup: the answers of this very server. No text becomes a script.
(() => {
  const htmx = /** @type {any} */ (window).htmx;
  const types = /** @type {any} */ (window).trustedTypes;
  const refuse = () => {
    throw new TypeError("no text of a page is run as a script");
  };
  const rules = { createHTML: (/** @type {string} */ text) => text, createScript: refuse };
  const policy = types ? types.createPolicy("assay", rules) : rules;
  htmx.registerExtension("assay", {
    init: (/** @type {any} */ api) => api.initSecurity(policy, refuse, refuse),
  });
})();
