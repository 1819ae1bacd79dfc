import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubeObject } from '../../../../operator/kube/object.ts'

const folder = join(import.meta.dirname, '../../../../charts/fxd-crds/templates')

/** The CustomResourceDefinitions of the chart, which uses no templates in them. */
export const kinds = (): KubeObject[] =>
  readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), 'utf8')) as KubeObject)
