import type { Secret } from './resources.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

export const secretWith = (
  metadata: Secret['metadata'],
  texts: Readonly<Record<string, string>>,
): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata,
  data: Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, base64(text)])),
})

export const textIn = (secret: Secret | undefined, field: string): string | undefined => {
  const value = secret?.data?.[field]
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString()
}
