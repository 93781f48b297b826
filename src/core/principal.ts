/** Who a list of people in the configuration means: `U0123`, `group:oncall`, `channel:C0123`. */
export type Principal =
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'channel'; readonly id: string };
