import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubeObject } from '../../../../operator/kube/object.ts'

const charts = join(import.meta.dirname, '../../../../charts')

/** A schema of a field, with the keywords that tests read. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[]
}

/** A CustomResourceDefinition. */
export interface Kind extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: {
      readonly kind: string
      readonly plural: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly conversion?: { readonly strategy: string }
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly storage: boolean
      readonly subresources?: object
      readonly additionalPrinterColumns?: readonly { readonly name: string }[]
      readonly schema: { readonly openAPIV3Schema: Schema }
    }[]
  }
}

const read = (folder: string): Kind[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => parse(readFileSync(join(folder, file), 'utf8')) as Kind)

/** The CustomResourceDefinitions of the chart, which uses no templates in them. */
export const kinds = (): Kind[] => read(join(charts, 'fxd-crds/templates'))

/** The CustomResourceDefinitions of the last release. */
export const releasedKinds = (): Kind[] => read(join(charts, 'baseline/kinds'))
