import type { IncomingHttpHeaders } from 'node:http'
import { Failure } from '../core/failure.ts'

const bearer = /^bearer +(.+)$/i

/**
 * The client's key: the `X-API-Key` header, else the bearer token, else the `api_key` parameter. An empty value
 * counts as absent. `query` is the raw request URL, or its parameters.
 * Throws KEY_INVALID if the parameter is repeated.
 */
export function credential(
  headers: Pick<IncomingHttpHeaders, 'authorization'> & Readonly<Record<string, unknown>>,
  query: URLSearchParams | string,
): string | undefined {
  const header = [headers['x-api-key']].flat().join(', ').trim()
  if (header !== '') return header
  const token = bearer.exec(headers.authorization ?? '')?.[1]?.trim()
  if (token) return token
  const given = parameters(query)
    .getAll('api_key')
    .filter((value) => value !== '')
  if (given.length > 1) throw new Failure('KEY_INVALID', 'The parameter api_key was given more than once.')
  return given[0]
}

function parameters(query: URLSearchParams | string): URLSearchParams {
  if (typeof query !== 'string') return query
  const start = query.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : query.slice(start).replace(/#.*$/s, ''))
}
