import type { Secret } from './resources.ts'

export const base64 = (text: string): string => Buffer.from(text).toString('base64')

export const textIn = (secret: Secret | undefined, field: string): string | undefined => {
  const value = secret?.data?.[field]
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString()
}
