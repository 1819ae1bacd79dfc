import http from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { target } from './target.ts'

/**
 * Every frame of the run is validated against the service's own /asyncapi.json. A frame that matches no
 * message there fails the test whose socket received it.
 */
interface Reference {
  readonly $ref: string
}
interface AsyncApi {
  readonly channels: { readonly stream: { readonly messages: Readonly<Record<string, Reference>> } }
  readonly operations: Readonly<
    Record<string, { readonly action: string; readonly messages: readonly Reference[] }>
  >
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly payload: Reference }>>
  }
}

/** Why a frame is not as described; `undefined` for a valid frame. */
export type FrameCheck = (frame: string) => string | undefined

const load = (url: string) =>
  new Promise<AsyncApi>((resolve, reject) => {
    http
      .get(`${url}/asyncapi.json`, { agent: false }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          if (response.statusCode !== 200) reject(new Error(`/asyncapi.json answered ${response.statusCode}`))
          else resolve(JSON.parse(Buffer.concat(parts).toString('utf8')) as AsyncApi)
        })
      })
      .on('error', reject)
  })

/** Accepts what the server may send: every message of the channel that the server does not receive. */
function checkOf(document: AsyncApi): FrameCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(document, 'asyncapi')
  const nameOf = ({ $ref }: Reference): string => $ref.split('/').at(-1) ?? ''
  const received = new Set(
    Object.values(document.operations)
      .filter(({ action }) => action === 'receive')
      .flatMap(({ messages }) => messages.map(nameOf)),
  )
  const sent = Object.keys(document.channels.stream.messages).filter((name) => !received.has(name))
  const validators = sent.map((name): [string, ValidateFunction] => {
    const payload = document.components.messages[name]?.payload
    if (!payload) throw new Error(`/asyncapi.json does not describe the message ${name}`)
    return [name, ajv.compile({ $ref: `asyncapi${payload.$ref}` })]
  })
  return (frame) => {
    const body: unknown = JSON.parse(frame)
    const faults: string[] = []
    for (const [name, validate] of validators) {
      if (validate(body)) return undefined
      faults.push(`${name}: ${ajv.errorsText(validate.errors, { dataVar: 'frame' })}`)
    }
    return `no message of /asyncapi.json allows the frame ${frame}: ${faults.join('; ')}`
  }
}

const checks = new Map<string, Promise<FrameCheck>>()

export function frameCheck(): Promise<FrameCheck> {
  const { url } = target()
  const known = checks.get(url) ?? load(url).then(checkOf)
  checks.set(url, known)
  return known
}
