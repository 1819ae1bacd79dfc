import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type DescribedHeader, headerFaults } from '../../acceptance/client/described-headers.ts'

interface Answer {
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  readonly body: unknown
}

/** Returns a check of answers against the description. It throws on a difference, and ignores undescribed paths. */
export function describedBy(openapi: object): (target: string, answer: Answer) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(openapi, 'openapi')
  const compiled = new Map<string, ValidateFunction>()
  const { paths } = openapi as {
    paths: Record<
      string,
      { get: { responses: Record<string, { headers?: Record<string, DescribedHeader> }> } }
    >
  }
  return (target, { status, headers, text, body }) => {
    const path = target.replace(/\?.*$/s, '')
    if (!Object.hasOwn(paths, path)) return
    const described = paths[path]?.get.responses[status]
    if (!described) throw new Error(`/openapi.json does not describe ${path} with ${status}`)
    const faults = headerFaults(described.headers, headers)
    if (faults.length > 0) throw new Error(`${path} ${status}: ${faults.join(', ')}`)
    const place = `/paths/${path.replaceAll('/', '~1')}/get/responses/${status}/content/application~1json/schema`
    const validate = compiled.get(place) ?? ajv.compile({ $ref: `openapi#${place}` })
    compiled.set(place, validate)
    if (!validate(body))
      throw new Error(`${path} ${status}: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`)
  }
}
