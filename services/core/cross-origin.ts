/** The API uses no cookies, so any page may read with its visitor's key. */
export const anyOrigin = { 'Access-Control-Allow-Origin': '*' } as const

/** Value of `Allow` for every path: nothing is written over HTTP. */
export const allowedMethods = 'GET, HEAD, OPTIONS'

/** The answer to a preflight request; browsers cache it for a day at most. */
export const preflightHeaders = {
  'Access-Control-Allow-Methods': allowedMethods,
  'Access-Control-Allow-Headers': 'X-API-Key, Authorization, Content-Type',
  'Access-Control-Max-Age': 86_400,
} as const
