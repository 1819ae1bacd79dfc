import { ask, query, read } from './http.ts'

export interface Listed {
  symbol: string
  display_symbol: string
  description: string
  exchange: string
  type: string
  digits: number
  price_scale: number
  feed: string
}
interface Single extends Listed {
  full_name: string
  supported_resolutions: string[]
  has_intraday: boolean
  has_daily: boolean
  has_weekly_and_monthly: boolean
  session: string
  timezone: string
  data_status: string
  delay_seconds: number
}
export interface List {
  symbols: Listed[]
  total: number
  limit: number
  offset: number
}

type Parameters_ = Parameters<typeof query>[0]

/** Requests to /v1/symbols with one key. */
export const symbolsOf = (key: string) => ({
  list: (parameters: Parameters_ = {}) => read<List>(`/v1/symbols${query(parameters)}`, key),
  single: (symbol: string) => read<Single>(`/v1/symbols${query({ symbol })}`, key),
  async refusal(parameters: Parameters_) {
    const answer = await ask(`/v1/symbols${query(parameters)}`, { key })
    return { status: answer.status, ...answer.body.error }
  },
})

export const names = (found: List): string[] => found.symbols.map(({ symbol }) => symbol)
