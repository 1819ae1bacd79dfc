import http from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type DescribedHeader, headerFaults } from './described-headers.ts'
import { target } from './target.ts'

/**
 * Every answer of the run is validated against the service's own /openapi.json. The test that sent the request
 * fails when the document does not describe the status or a header, lacks a required header, or rejects the body.
 */
interface DescribedResponse {
  readonly headers?: Readonly<Record<string, DescribedHeader>>
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>
}
interface Described {
  readonly responses: Readonly<Record<string, DescribedResponse>>
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described | undefined>> | undefined>>
}

const load = (url: string) =>
  new Promise<OpenApi>((resolve, reject) => {
    http
      .get(`${url}/openapi.json`, { agent: false }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          if (response.statusCode !== 200) reject(new Error(`/openapi.json answered ${response.statusCode}`))
          else resolve(JSON.parse(Buffer.concat(parts).toString('utf8')) as OpenApi)
        })
      })
      .on('error', reject)
  })

const escaped = (segment: string): string =>
  encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))

class Description {
  readonly #document: OpenApi
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(document: OpenApi) {
    this.#document = document
    this.#ajv.addSchema(document, 'openapi')
  }

  assert(
    method: string,
    path: string,
    answer: { status: number; headers: Readonly<Record<string, unknown>>; body: unknown; text: string },
  ) {
    const described = this.#document.paths[path]
    if (described === undefined || method !== 'GET') return
    const response = described['get']?.responses[String(answer.status)]
    if (response === undefined) {
      throw new Error(`/openapi.json does not describe GET ${path} with ${answer.status}: ${answer.text}`)
    }
    const faults = headerFaults(response.headers, answer.headers)
    if (faults.length > 0) {
      throw new Error(`GET ${path} ${answer.status} is not as /openapi.json says: ${faults.join(', ')}`)
    }
    const mediaType = 'application/json'
    if (response.content?.[mediaType]?.schema === undefined) {
      throw new Error(`/openapi.json gives no JSON schema for GET ${path} with ${answer.status}`)
    }
    const pointer = ['paths', path, 'get', 'responses', String(answer.status), 'content', mediaType, 'schema']
    const validate = this.#validator(`openapi#/${pointer.map(escaped).join('/')}`)
    if (validate(answer.body)) return
    const problems = this.#ajv.errorsText(validate.errors, { dataVar: 'body' })
    throw new Error(`GET ${path} ${answer.status} is not as /openapi.json says: ${problems}: ${answer.text}`)
  }

  #validator(reference: string): ValidateFunction {
    const known = this.#compiled.get(reference)
    if (known !== undefined) return known
    const made = this.#ajv.compile({ $ref: reference })
    this.#compiled.set(reference, made)
    return made
  }
}

/** The description of each service, by its URL. */
const descriptions = new Map<string, Promise<Description>>()

export const assertDescribed = async (
  method: string,
  path: string,
  answer: { status: number; headers: Readonly<Record<string, unknown>>; body: unknown; text: string },
): Promise<void> => {
  const { url } = target()
  const description = descriptions.get(url) ?? load(url).then((document) => new Description(document))
  descriptions.set(url, description)
  const bare = path.split('?')[0] ?? path
  ;(await description).assert(method, bare, answer)
}
