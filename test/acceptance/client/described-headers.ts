export interface DescribedHeader {
  readonly required?: boolean
  readonly schema?: { readonly type?: string; readonly enum?: readonly string[] }
}

/** Headers that the service defines; standard HTTP headers need no description. */
const own = /^(x-ratelimit-|x-ws-|retry-after$|www-authenticate$)/

function fits(value: string, { type, enum: values }: NonNullable<DescribedHeader['schema']>): boolean {
  if (values) return values.includes(value)
  return type !== 'integer' || /^\d+$/.test(value)
}

/** What is wrong with the headers of an answer (names in lower case), given the description for its status. */
export function headerFaults(
  described: Readonly<Record<string, DescribedHeader>> = {},
  headers: Readonly<Record<string, unknown>>,
): string[] {
  const known = new Set(Object.keys(described).map((name) => name.toLowerCase()))
  const undescribed = Object.keys(headers).filter((name) => own.test(name) && !known.has(name))
  const faults = undescribed.map((name) => `${name} is not described`)
  for (const [name, { required, schema = {} }] of Object.entries(described)) {
    const value = headers[name.toLowerCase()]
    if (value === undefined) {
      if (required === true) faults.push(`${name} is required`)
    } else if (!fits(String(value), schema)) faults.push(`${name} is ${String(value)}`)
  }
  return faults
}
