export const plans = ['basic', 'standard', 'pro', 'enterprise'] as const
export type Plan = (typeof plans)[number]

/** Limits are set per key; a plan has their defaults. */
export interface KeyLimits {
  readonly rpm: number
  readonly rpd: number
  readonly wsConnections: number
  readonly wsSymbols: number
}

/** `enterprise` has no defaults: all four limits must be given with the key. */
export const planLimits: Readonly<Record<Exclude<Plan, 'enterprise'>, KeyLimits>> = {
  basic: { rpm: 30, rpd: 10_000, wsConnections: 2, wsSymbols: 200 },
  standard: { rpm: 120, rpd: 50_000, wsConnections: 10, wsSymbols: 200 },
  pro: { rpm: 600, rpd: 250_000, wsConnections: 30, wsSymbols: 500 },
}

export const isPlan = (text: string): text is Plan => (plans as readonly string[]).includes(text)
