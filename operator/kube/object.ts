/** Who deletes an object with it. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

/** An object as the API server gives it. */
export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly generation?: number
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly OwnerReference[]
  }
}

/** A kind of objects in one namespace; `group` of the core kinds is empty. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** Lists and watches only objects with this label, `name` or `name=value`. */
  readonly label?: string
}
