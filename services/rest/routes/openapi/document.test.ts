import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRestFixture, type RestFixture } from '../../../../test/support/fixtures/rest-fixture.ts'
import { failures } from '../../../core/failure.ts'

interface Parameter {
  readonly name: string
  readonly required: boolean
  readonly schema: Readonly<Record<string, unknown>>
}
interface Document {
  readonly openapi: string
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get: {
          readonly parameters: Parameter[]
          readonly security: object[]
          readonly responses: Readonly<
            Record<string, { readonly description: string; readonly headers?: object }>
          >
        }
      }
    >
  >
}

let edge: RestFixture
let document: Document
beforeAll(async () => {
  edge = await openRestFixture()
  document = JSON.parse((await edge.ask('/openapi.json')).text) as Document
})
afterAll(() => edge.close())

const parameters = (path: string) =>
  document.paths[path]?.get.parameters.map(({ name, required }) => (required ? `${name}!` : name))

describe('/openapi.json', () => {
  test('is the document that the routes produce', () => expect(document).toEqual(edge.openapi))

  test.each([
    ['/v1/config', []],
    ['/v1/symbols', ['symbol', 'search', 'limit', 'offset']],
    ['/v1/history', ['symbol!', 'resolution!', 'from', 'to', 'countback']],
    ['/v1/coverage', ['symbol', 'resolution']],
    ['/v1/status', []],
    ['/v1/usage', ['days']],
  ])('%s has the parameters of the specification', (path, expected) => {
    expect(parameters(path)).toEqual(expected)
  })

  test('has the limits and the defaults of the specification', () => {
    const schemas = Object.fromEntries(
      Object.values(document.paths).flatMap(({ get }) =>
        get.parameters.map(({ name, schema }) => [name, schema]),
      ),
    )
    expect(schemas).toMatchObject({
      symbol: { type: 'string', minLength: 1 },
      limit: { minimum: 1, default: 100 },
      offset: { minimum: 0, default: 0 },
      countback: { minimum: 1, maximum: 10_000 },
      days: { minimum: 1, default: 7 },
      search: { maxLength: 64 },
    })
  })

  test('has no internal keywords in any schema', () => {
    const wordsOf = (value: unknown): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([word, inner]) => [word, ...wordsOf(inner)])
        : []
    expect(wordsOf(document).filter((word) => word.startsWith('x-'))).toEqual([])
  })

  test.each([
    ['/v1/history', '200 403 422 429 500'],
    ['/v1/symbols', '200 403 404 422 429 500'],
    ['/v1/coverage', '200 403 404 422 429 500'],
    ['/v1/status', '200 422 429 500'],
    ['/v1/usage', '200 422 429 500'],
    ['/v1/config', '200 422 500'],
  ])('%s has the rate headers with %s', (path, statuses) => {
    const withRate = Object.entries(document.paths[path]?.get.responses ?? {})
      .filter(([, { headers = {} }]) => 'X-RateLimit-Remaining-Day' in headers)
      .map(([status]) => status)
    expect(withRate.join(' ')).toBe(statuses)
  })

  test('only the config may be read without a key', () => {
    const open = Object.entries(document.paths).filter(([, { get }]) =>
      get.security.some((way) => Object.keys(way).length === 0),
    )
    expect(open.map(([path]) => path)).toEqual(['/v1/config'])
  })

  test('a refused upgrade has the headers of the cap, not those of the rate, and names the kind of credential', () => {
    const { 401: unknown, 429: refused } = document.paths['/v1/stream']?.get.responses ?? {}
    expect(Object.keys(unknown?.headers ?? {})).toEqual(['WWW-Authenticate'])
    expect(Object.keys(refused?.headers ?? {})).toEqual([
      'Retry-After',
      'X-Ws-Connections-Limit',
      'X-Ws-Connections-In-Use',
    ])
  })

  test('an address that is not allowed is 401 on REST and 403 on an upgrade', () => {
    const statusesOf = (path: string) =>
      Object.entries(document.paths[path]?.get.responses ?? {})
        .filter(([, { description }]) => description.includes('IP_NOT_ALLOWED'))
        .map(([status]) => status)
    expect(statusesOf('/v1/history')).toEqual(['401'])
    expect(statusesOf('/v1/stream')).toEqual(['403'])
  })

  test('has every failure code except for unknown paths and methods', () => {
    const text = JSON.stringify(
      Object.values(document.paths).map(({ get }) => ({ ...get, content: undefined })),
    )
    for (const code of Object.keys(failures)) {
      expect(new RegExp(`\\b${code}: `).test(text), code).toBe(
        code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED',
      )
    }
  })
})
