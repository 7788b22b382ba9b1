/**
 * The operator's permissions in a cluster, each with its reason: the Roles of the chart and of kustomize are generated
 * from this table. The API server refuses any verb that is not here.
 */
export type Permission = {
  apiGroup: string;
  resources: readonly string[];
  /** Limits the rule to these objects; `create` and `list` cannot be limited to names. */
  names?: readonly string[];
  verbs: readonly string[];
  reason: string;
};

/** The Lease that lets one operator at a time write. */
export const LEASE_NAME = 'tintype-operator';

const READ = ['get', 'list', 'watch'] as const;
const WRITE = ['create', 'patch', 'delete'] as const;
const KINDS = ['projects', 'signingkeys', 'watermarkpresets', 'recipes'] as const;

export const permissions = {
  /** In every watched namespace, or in the whole cluster. */
  tenant: [
    {
      apiGroup: 'tintype.dev',
      resources: KINDS,
      verbs: ['list', 'watch', 'patch'],
      reason: 'what is declared; patched for finalizers, and for the names of callback secrets',
    },
    {
      apiGroup: 'tintype.dev',
      resources: ['imageservices'],
      verbs: ['list', 'watch'],
      reason: 'what is declared of installations',
    },
    {
      apiGroup: 'tintype.dev',
      resources: [...KINDS, 'imageservices'].map((plural) => `${plural}/status`),
      verbs: ['patch'],
      reason: 'their status',
    },
    {
      apiGroup: '',
      resources: ['secrets'],
      verbs: ['get', 'create', 'patch', 'delete'],
      reason:
        'callback secrets, and images of presets, each by the name that a resource gives; never listed; only callback secrets that the operator created are deleted',
    },
    {
      apiGroup: '',
      resources: ['configmaps'],
      verbs: ['get'],
      reason: 'images of presets, by the name that a resource gives',
    },
    {
      apiGroup: 'events.k8s.io',
      resources: ['events'],
      verbs: ['create', 'patch'],
      reason: 'what people see in kubectl describe',
    },
  ],
  /** In the namespace of the delivery hosts. */
  delivery: [
    {
      apiGroup: 'networking.k8s.io',
      resources: ['ingresses'],
      verbs: ['list', 'watch', ...WRITE],
      reason: 'the routes of delivery hosts',
    },
    {
      apiGroup: 'gateway.networking.k8s.io',
      resources: ['httproutes'],
      verbs: ['list', 'watch', ...WRITE],
      reason: 'the same routes, where a Gateway is used',
    },
    {
      apiGroup: 'tintype.dev',
      resources: ['imageservices'],
      verbs: ['list', 'watch'],
      reason: 'where delivery hosts lead to, also where only other namespaces are watched',
    },
  ],
  /** In the namespaces that may hold an ImageService. */
  runtime: [
    {
      apiGroup: 'tintype.dev',
      resources: ['imageservices'],
      verbs: READ,
      reason: 'what is declared, also where only other namespaces are watched',
    },
    {
      apiGroup: 'tintype.dev',
      resources: ['imageservices/status'],
      verbs: ['patch'],
      reason: 'their status',
    },
    {
      apiGroup: 'tintype.dev',
      resources: ['imageservices/finalizers'],
      verbs: ['update'],
      reason: 'to own what it writes, where the cluster checks owner references',
    },
    {
      apiGroup: 'events.k8s.io',
      resources: ['events'],
      verbs: ['create', 'patch'],
      reason: 'what people see in kubectl describe',
    },
    {
      apiGroup: 'apps',
      resources: ['deployments'],
      verbs: [...READ, ...WRITE],
      reason: 'the processes of the runtime',
    },
    {
      apiGroup: 'apps',
      resources: ['deployments/scale'],
      verbs: ['patch'],
      reason: 'workers follow the depth of their queue',
    },
    {
      apiGroup: '',
      resources: ['pods'],
      verbs: ['list', 'watch', 'patch'],
      reason: 'a busy worker is marked, so that it is not the one to go',
    },
    {
      apiGroup: 'batch',
      resources: ['jobs', 'cronjobs'],
      verbs: [...READ, ...WRITE],
      reason: 'the migration, and the scheduled jobs',
    },
    {
      apiGroup: '',
      resources: ['services', 'serviceaccounts'],
      verbs: [...READ, ...WRITE],
      reason: 'what the processes are reached by and run as',
    },
    {
      apiGroup: 'policy',
      resources: ['poddisruptionbudgets'],
      verbs: [...READ, ...WRITE],
      reason: 'drains of nodes leave the service up',
    },
    {
      apiGroup: 'networking.k8s.io',
      resources: ['networkpolicies', 'ingresses'],
      verbs: [...READ, ...WRITE],
      reason: 'whom each process may reach, and the host of the API',
    },
    {
      apiGroup: 'gateway.networking.k8s.io',
      resources: ['httproutes'],
      verbs: [...READ, ...WRITE],
      reason: 'the host of the API, where a Gateway is used',
    },
    {
      apiGroup: 'keda.sh',
      resources: ['scaledobjects', 'triggerauthentications'],
      verbs: [...READ, ...WRITE],
      reason: 'scaling by KEDA, where it is installed',
    },
    {
      apiGroup: '',
      resources: ['secrets'],
      verbs: ['get'],
      reason: 'whether the Secrets that an ImageService names are there; never listed',
    },
    {
      apiGroup: '',
      resources: ['configmaps'],
      verbs: ['get'],
      reason:
        'whether the ConfigMaps that an ImageService names are there, and its plans; never listed',
    },
  ],
  /** In the operator's own namespace. */
  own: [
    {
      apiGroup: 'coordination.k8s.io',
      resources: ['leases'],
      verbs: ['create'],
      reason: 'the Lease of the leader',
    },
    {
      apiGroup: 'coordination.k8s.io',
      resources: ['leases'],
      names: [LEASE_NAME],
      verbs: ['get', 'update'],
      reason: 'taken, renewed and released by name',
    },
  ],
} as const satisfies Record<string, readonly Permission[]>;
