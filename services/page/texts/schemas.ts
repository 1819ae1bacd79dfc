/** The part of JSON Schema that the document of this service uses. */
export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly maximum?: number
  readonly maxLength?: number
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
}

/** A type in a line: `integer`, `"ok" | "degraded"`, `object[]`. */
export function typeText(schema: Schema): string {
  const { type, const: only, enum: values, anyOf, items } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map(typeText).join(' | ')
  if (items) return `${items.anyOf || items.enum ? `(${typeText(items)})` : typeText(items)}[]`
  if (schema.maximum !== undefined) return `${type}, at most ${schema.maximum.toLocaleString('en-US')}`
  return schema.maxLength === undefined
    ? (type ?? 'any')
    : `${type} of at most ${schema.maxLength} characters`
}

/** An answer as an outline: each field with its type and meaning. */
export function schemaText(schema: Schema, indent = ''): string {
  const { anyOf, items, properties } = schema
  if (anyOf?.some(isNested)) return anyOf.map((each) => schemaText(each, indent)).join(`\n${indent}or\n`)
  if (items && isNested(items)) return schemaText(items, indent)
  const values = valuesOf(schema)
  const fields = Object.entries({ ...properties, ...(values && { '<name>': values }) })
  if (fields.length === 0) return `${indent}${typeText(schema)}`
  return fields.map(([name, field]) => fieldText(name, field, isRequired(schema, name), indent)).join('\n')
}

function fieldText(name: string, field: Schema, required: boolean, indent: string): string {
  const meaning = field.description ? `  ${field.description}` : ''
  const head = `${indent}${name}${required ? '' : '?'}: ${typeText(field)}${meaning}`
  return isNested(field) ? `${head}\n${schemaText(field, `${indent}  `)}` : head
}

const isRequired = ({ required = [] }: Schema, name: string): boolean =>
  name === '<name>' || required.includes(name)

/** The schema of the values of an object with any names. */
function valuesOf({ patternProperties, additionalProperties }: Schema): Schema | undefined {
  if (patternProperties) return Object.values(patternProperties)[0]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

const isNested = (schema: Schema): boolean =>
  schema.properties !== undefined ||
  valuesOf(schema) !== undefined ||
  (schema.items !== undefined && isNested(schema.items)) ||
  (schema.anyOf?.some(isNested) ?? false)
