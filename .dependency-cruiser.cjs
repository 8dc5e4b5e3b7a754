// The import table of ARCHITECTURE.md as lint: who may import whom, and which packages. Checked by `npm run lint`.
// Types count too: what a file names is what it depends on. A layer that may use only the types of another says so.

const folder = (path) => `^${path}/`;
const file = (path) => `^${path}[.]ts$`;
const npm = (...names) => `^node_modules/(${names.join('|')})/`;

/** Files of src/chain that compute, and neither call a node nor hold keys. */
const PURE_CHAIN = file(
  'src/chain/(address|adminsSafe|genesisPayload|nestedCalls|nestingFunctions|decode|domainSalt|functions|keccak|revertReason|safeAccount|typedData)',
);
const MESSAGES = file('src/temporal/(ids|messages|searchAttributes|traceHeader)');
const CONFIG = file('src/config');
const CONFIG_ERROR = file('src/configError');
const ROLE_SETTINGS = file('src/roleSettings');
const LOGGING = file('src/logging');
const METRICS = file('src/metrics');
const FAILPOINTS = file('src/failpoints');
const TRACING = file('src/tracing');
const CLIENT = '^client/';
const CONSOLE = '^console/';
const MAP_LIMIT = file('src/mapLimit');
const PAUSE = file('src/pause');
const ONCE = file('src/once');
const TIME_LIMIT = file('src/timeLimit');
const RETRY_AFTER = file('src/retryAfter');
const SET_NEWEST = file('src/setNewest');
const LIFETIME = file('src/lifetime');
const SECRETS = file('src/secrets');
const FILE_OWNER = file('src/fileOwner');
const LASTING_FAILURE = file('src/lastingFailure');
const CERTIFICATES = file('src/certificates');
const CLIENTS = file('src/clients');
const REMEMBERED = file('src/production');
const PRODUCTION = '^(src|activities|workflows)/';
const PROJECT = '^(src|activities|workflows|tools|client|console|test)/';

/** What the signer answers: workers and workflows may name its types. */
const SIGNER = file('src/signer/(activities|refusal|seal|transaction/confirmOutcome)');
/** What operators do on the host of the signer. */
const SIGNER_FILES = folder('src/signer/(comparison|journal|keys|recovery|store)');
/** Statements that the signer and others execute. */
const SHARED_TABLES = file(
  'src/db/(attempts|authorizations|database|envelopes|installation|journalComparison|lockQueues|policyUsage|reservations|rows|seals|storedApprovals|storedProposals|storedTransactions|unknownExecutions|untilAvailable)',
);
/** What runs a process and its workers. */
const RUNNING = file('src/(process|workers)');
const KEEP_POLLING = file('src/keepPolling');
const LISTEN = file('src/listen');
/** Of whom and of what movements are. */
const MOVEMENT_NAMES = file('src/movements/movementNames');
const PARTS = file('src/parts');

/**
 * One row for each layer, from the lowest to the highest: whom it may import besides itself, and of whom only types. A
 * layer is a folder, or `files`. A row with `packages` may use only these, and none of Node's own modules.
 */
const LAYERS = {
  // Published alone: it must not need the service.
  client: { may: [], packages: npm('viem') },
  // What a browser loads: the service is reached through the client only. Its forms check what is typed by the schemas of the contract.
  'console/src': {
    // It says a call in the same words as what is signed.
    may: [CLIENT, folder('src/contract'), file('src/domain/callText')],
    packages: npm(
      '@ariakit/react',
      '@tanstack/react-(query|router|table)',
      'lean-qr',
      'lucide-react',
      'react',
      'react-dom',
      'react-hook-form',
      'viem',
      'zod',
    ),
  },
  // A page of its own, which needs no service: one file, also where everything else is gone.
  'console/rescue': {
    may: [CLIENT, file('console/src/signing/walletError'), '^console/src/(theme|ui)/[a-z-]+[.]css$'],
    packages: npm('viem'),
  },
  // Each state of a component; built apart, with packages of its own.
  'console/stories': {
    files: 'console/stories/[^.]+[.]stories[.]tsx$',
    may: [CLIENT, '^console/src/ui/'],
    packages: npm('react'),
  },
  'src/domain': { may: [], packages: npm('canonicalize', 'zod') },
  'src/chain': {
    may: [
      folder('src/domain'),
      FAILPOINTS,
      FILE_OWNER,
      MAP_LIMIT,
      ONCE,
      PAUSE,
      RETRY_AFTER,
      SECRETS,
      SET_NEWEST,
      TRACING,
    ],
    types: [CONFIG],
  },
  'src/db': { may: [folder('src/domain'), FAILPOINTS, TIME_LIMIT] },
  'src/temporal': {
    may: [CERTIFICATES, folder('src/domain'), TIME_LIMIT, TRACING],
    types: [CONFIG, LOGGING],
  },
  'src/contract': { may: [folder('src/domain'), PURE_CHAIN], packages: npm('zod', 'zod-openapi') },
  'src/operations': {
    may: [folder('src/(contract|domain|db)'), PURE_CHAIN],
    types: [CONFIG],
    packages: npm('zod'),
  },
  'src/transactions': {
    may: [folder('src/(contract|domain|db)'), PURE_CHAIN, file('src/chain/(signatures|tokenList)')],
    types: [CONFIG, folder('src/chain'), file('src/operations/kind')],
    packages: npm('zod', 'viem'),
  },
  'src/approvals': {
    may: [folder('src/(credentials|db|domain)'), PURE_CHAIN, file('src/chain/(signatures|signedSeals)')],
    types: [folder('src/chain')],
    packages: npm('viem'),
  },
  'src/addressBook': {
    may: [folder('src/(contract|credentials|db|domain)'), PURE_CHAIN],
    types: [CONFIG],
  },
  'src/credentials': { may: [folder('src/(db|domain)')] },
  // Sends mail, and knows nothing of what it says.
  'src/mail': { may: [file('src/domain/loopback')], packages: npm('nodemailer', 'zod') },
  // What people are told: occasions, texts and formats. Who sends is a part of the worker.
  'src/notices': {
    may: [folder('src/(approvals|db|domain)'), PURE_CHAIN, MOVEMENT_NAMES],
    types: [folder('src/chain')],
  },
  'src/organizations': {
    may: [folder('src/(approvals|db|domain)'), PURE_CHAIN, file('src/chain/(signatures|signedSeals)')],
    types: [folder('src/chain')],
  },
  // Sends to addresses that other people have chosen; knows nothing of what is sent.
  'src/outbound': { may: [RETRY_AFTER] },
  // Values for display: no policy and no signer loads them.
  'src/prices': {
    may: [file('src/domain/address'), file('src/chain/sharedReads')],
    types: [CONFIG, LOGGING],
  },
  // What is sent of the feed, to whom, and when again.
  'src/delivery': {
    may: [folder('src/(credentials|db|domain|mail|notices|outbound)'), FAILPOINTS],
    types: [LOGGING],
  },
  'src/movements': { may: [folder('src/(chain|db|domain)')] },
  'src/reconciler': { may: [folder('src/(domain|db|temporal)'), MAP_LIMIT] },
  activities: {
    may: [
      folder('src/(approvals|chain|db|delivery|domain|operations|reconciler|temporal|transactions)'),
      FAILPOINTS,
      MAP_LIMIT,
      SET_NEWEST,
      TIME_LIMIT,
      TRACING,
    ],
    types: [CONFIG, LOGGING, SIGNER, folder('src/(contract|movements)')],
  },
  // Rules, chains, its own store and what runs a process; nothing of the API, the workers or Temporal, which it does not trust.
  'src/signer': {
    files: 'src/signer/(?!recovery/|store/).+',
    may: [
      folder('src/(chain|domain|signer)'),
      SHARED_TABLES,
      file('src/approvals/(sealedState|signedTransaction|verifiedVotes)'),
      file('src/operations/(change|rule|rules)'),
      file('src/transactions/(policy|summary)'),
      FAILPOINTS,
      FILE_OWNER,
      KEEP_POLLING,
      LASTING_FAILURE,
      MAP_LIMIT,
      RUNNING,
      SECRETS,
      SET_NEWEST,
      TIME_LIMIT,
      TRACING,
    ],
    types: [CLIENTS, CONFIG, LIFETIME, LOGGING, file('src/db/(freezes|storedApprovals)')],
  },
  'src/signer/store': {
    // What a search finds a request by is written back with it.
    may: [folder('src/domain'), SHARED_TABLES, file('src/db/(searchTerms|transactions)')],
    types: [file('src/db/(freezes|relayers|tables)')],
  },
  // What an operator does where database and journal differ: no process of the signer loads it.
  'src/signer/recovery': {
    may: [
      folder('src/(approvals|chain|db|domain|organizations|signer)'),
      file('src/operations/change'),
      file('src/transactions/policy'),
      FAILPOINTS,
      LASTING_FAILURE,
    ],
    types: [CONFIG, LOGGING],
  },
  'src/proof': { may: [folder('src/(chain|db|domain|operations)'), SIGNER_FILES] },
  workflows: {
    may: [folder('src/domain'), MESSAGES],
    types: [folder('activities'), SIGNER],
    packages: npm('@temporalio/workflow'),
  },
  'src/api': {
    may: [
      CLIENT,
      folder(
        'src/(addressBook|approvals|contract|credentials|db|delivery|domain|operations|prices|temporal|transactions)',
      ),
      PURE_CHAIN,
      FAILPOINTS,
      LISTEN,
      MOVEMENT_NAMES,
      PAUSE,
      SET_NEWEST,
      TIME_LIMIT,
      TRACING,
    ],
    types: [CONFIG, METRICS, LOGGING, folder('src/(chain|movements|notices)')],
  },
  'src/production': { files: 'src/production', may: [folder('src/db'), CONFIG, TIME_LIMIT] },
  'src/clients': {
    files: 'src/(clients|ownSettings)',
    may: [folder('src/(chain|db|domain|temporal)'), CONFIG_ERROR, ROLE_SETTINGS, file('src/signerApart')],
    types: [CONFIG, LIFETIME, LOGGING, METRICS, TRACING],
  },
  'src/upgrade': { files: 'src/upgrade', may: [folder('src/temporal'), MAP_LIMIT], types: [LOGGING] },
  'src/ops': { may: [folder('src/temporal'), LISTEN, PARTS], types: [METRICS] },
  'src/process': {
    files: 'src/(activityLog|process|workers)',
    may: [folder('src/(db|ops|temporal)'), file('src/[^/]+')],
  },
  'src/roles': {
    files: 'src/(deliveryWatch|executionTimes|lostBlocks|movementWatch|relayerWatch|roles|workflowSource)',
    may: [
      folder('activities'),
      folder('src/(chain|db|delivery|mail|movements|outbound|temporal)'),
      file('src/signer/workers'),
      file('src/(activityLog|workers)'),
      FAILPOINTS,
      KEEP_POLLING,
      LASTING_FAILURE,
      TIME_LIMIT,
    ],
    types: [CLIENTS, CONFIG, LIFETIME, LOGGING, METRICS],
  },
  'src/chainReads': {
    files: 'src/(chainReads|heartbeats|installationParts)',
    may: [folder('src/(chain|db|domain|temporal|transactions)'), PARTS],
    types: [CLIENTS, LOGGING, folder('src/(api|contract)')],
  },
  'src/service': {
    files: 'src/(apiDeliveries|main|runProcess|service)',
    may: [
      folder('src/(api|chain|db|delivery|domain|mail|movements|notices|operations|outbound|prices|temporal)'),
      file('src/signer/main'),
      file('src/[^/]+'),
    ],
  },
  // What any layer may use: settings, logs, metrics, traces and small tools.
  'src/config': {
    files:
      'src/(certificates|config|configError|failpoints|fileOwner|freePort|healthMetrics|keepPolling|lastingFailure|lifetime|listen|logging|mapLimit|metrics|openTelemetry|parts|pause|projectRoot|retryAfter|roleSettings|secrets|setNewest|signerApart|timeLimit|tracing|version)',
    may: [file('src/domain/(chainShortName|loopback|network)'), file('src/mail/(mailAddress|smtpServer)')],
    types: [folder('src/(chain|db)')],
  },
  'src/cli': {
    may: [
      folder(
        'src/(approvals|chain|contract|credentials|db|delivery|domain|movements|organizations|prices|proof|reconciler|temporal)',
      ),
      folder('src/mail'),
      SIGNER_FILES,
      CERTIFICATES,
      CONFIG,
      CONFIG_ERROR,
      ROLE_SETTINGS,
      FAILPOINTS,
      SECRETS,
      MAP_LIMIT,
      ONCE,
      REMEMBERED,
      TIME_LIMIT,
      file('src/(ownSettings|projectRoot|version)'),
      CLIENT,
    ],
  },
  'tools/dev': { may: [folder('src')] },
  'tools/demo': { may: [folder('src'), folder('tools/dev'), CLIENT] },
};

/** A type may come from a package that is there for development only: it is gone when the code runs. */
const VALUES = { dependencyTypesNot: ['type-only'] };
const TYPES = { dependencyTypes: ['type-only'] };

const ownOf = ([layer, { files }]) => (files ? file(files) : folder(layer));

function rulesOf(row) {
  const [layer, { may, types = [], packages }] = row;
  const own = ownOf(row);
  const from = { path: own };
  const rules = [
    { name: `${layer}: imports`, from, to: { path: PROJECT, pathNot: [own, ...may], ...VALUES } },
    { name: `${layer}: types`, from, to: { path: PROJECT, pathNot: [own, ...may, ...types], ...TYPES } },
  ];
  if (packages) {
    rules.push({ name: `${layer}: packages`, from, to: { path: '^node_modules/', pathNot: packages } });
    rules.push({ name: `${layer}: modules of Node`, from, to: { dependencyTypes: ['core'] } });
  }
  return rules;
}

/** Besides: what holds within a layer, and for all of them. */
const OTHER_RULES = [
  {
    name: 'every file has a layer',
    from: { path: PRODUCTION, pathNot: Object.entries(LAYERS).map(ownOf) },
    to: {},
  },
  {
    name: 'no cycle between files',
    from: {},
    to: { circular: true },
  },
  {
    name: 'production without tools and tests',
    from: { path: PRODUCTION },
    to: { path: '^(tools|test)/' },
  },
  {
    // Who reads a rescue kit makes all of it again, by the same functions.
    name: 'production without the client, but for the CLI and the rescue kit',
    from: { path: PRODUCTION, pathNot: [folder('src/cli'), '^src/api/routes/rescueRoutes\\.ts$'] },
    to: { path: CLIENT },
  },
  {
    // The image is installed with `npm ci --omit=dev`.
    name: 'production without packages of development',
    from: { path: PRODUCTION },
    to: { dependencyTypes: ['npm-dev'], ...VALUES },
  },
  {
    name: 'packages are declared',
    from: { path: PROJECT },
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'nobody imports the console but its tests',
    from: { path: PROJECT, pathNot: [CONSOLE, '^test/'] },
    to: { path: CONSOLE },
  },
  {
    // It sets zod up before there is a schema.
    name: 'one folder of the console reads the contract',
    from: { path: folder('console/src'), pathNot: folder('console/src/contract') },
    to: { path: '^(src|node_modules/zod)/' },
  },
  {
    name: 'what the console decides is apart from what it says',
    from: { path: folder('console/src/domain') },
    to: {
      path: '^(node_modules/(@tanstack|@ariakit|react)|console/src/)',
      pathNot: folder('console/src/domain'),
    },
  },
  {
    name: 'what the console says is apart from what it shows',
    from: { path: folder('console/src/text') },
    to: {
      path: '^(node_modules/(@tanstack|@ariakit|react)|console/src/)',
      pathNot: folder('console/src/(domain|text)'),
    },
  },
  {
    name: 'imports exist',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'only the service runs activities',
    from: { path: folder('src'), pathNot: file('src/roles') },
    to: { path: folder('activities') },
  },
  {
    // Activities get keys as a dependency; their types are in src/chain/keys.ts.
    name: 'only the signer, the CLI and the start of the demo open the keystore',
    from: {
      path: '^(src|activities|workflows|tools)/',
      pathNot: [
        folder('src/signer/keys'),
        file('src/signer/workers'),
        folder('src/cli'),
        file('tools/dev/prepare'),
      ],
    },
    to: { path: folder('src/signer/keys') },
  },
  {
    name: 'what writes back is the CLI, and no process of the signer',
    from: { path: PRODUCTION, pathNot: [folder('src/signer/recovery'), folder('src/cli')] },
    to: { path: folder('src/signer/recovery') },
  },
  {
    name: 'only a process of the signer loads what signs',
    from: { path: PRODUCTION, pathNot: [folder('src/signer'), file('src/(main|roles)')] },
    to: { path: folder('src/signer'), pathNot: SIGNER_FILES, ...VALUES },
  },
  {
    name: 'the process of the signer loads nothing of those whom it does not trust',
    from: { path: file('src/signer/main') },
    to: {
      path: '^(activities|workflows|src/(api|cli|contract|proof|reconciler))/|^src/(roles|service)[.]ts$|^node_modules/express/',
      reachable: true,
    },
  },
  {
    // What the signer reads of an operation; the request is beside it.
    name: 'the rules of operations load neither the contract nor a table',
    from: { path: file('src/operations/(change|rules)') },
    to: { path: '^src/(contract|db)/|[.]request[.]ts$', reachable: true },
  },
  {
    // What is audited is decided elsewhere (test/unit/db/decisions.test.ts holds the rest).
    name: 'repositories append no audit entries',
    from: { path: folder('src/db'), pathNot: file('src/db/audit') },
    to: { path: file('src/db/audit') },
  },
  {
    name: 'the journal knows only the rules',
    from: { path: folder('src/signer/journal') },
    to: { path: PROJECT, pathNot: [folder('src/signer/journal'), folder('src/domain'), FILE_OWNER] },
  },
  {
    name: 'the chain worker is apart from the signer',
    from: { path: file('activities/chainActivities') },
    to: { path: folder('src/signer'), reachable: true },
  },
  {
    name: 'what subjects share knows no subject',
    from: { path: folder('activities/(approvals|relayer)') },
    to: { path: folder('activities/(proposals|transactions|deployments)') },
  },
  {
    name: 'proposals and transactions are apart',
    from: { path: folder('activities/(proposals|deployments)') },
    to: { path: folder('activities/transactions') },
  },
  {
    name: 'transactions and proposals are apart',
    from: { path: folder('activities/transactions') },
    to: { path: folder('activities/(proposals|deployments)') },
  },
];

module.exports = {
  forbidden: [...Object.entries(LAYERS).flatMap(rulesOf), ...OTHER_RULES].map((rule) => ({
    severity: 'error',
    ...rule,
  })),
  options: {
    doNotFollow: { path: '^node_modules/' },
    exclude: {
      path: '^(dist|client/dist[.0-9]*|console/dist|console/stories/(dist|node_modules|[.]storybook)|test/deep/generated)/',
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // Packages that are ES modules only have exports and no main.
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'import', 'default'] },
  },
};
