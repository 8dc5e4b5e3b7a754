import com.google.gson.JsonParser;
import java.io.FileInputStream;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.web3j.abi.DefaultFunctionEncoder;
import org.web3j.abi.datatypes.Address;
import org.web3j.abi.datatypes.DynamicBytes;
import org.web3j.crypto.Credentials;
import org.web3j.crypto.Sign;
import org.web3j.utils.Numeric;
import orgwallet.ApiClient;
import orgwallet.api.ProposalsApi;
import orgwallet.api.TransactionsApi;
import orgwallet.model.*;

/** A payment with the client of openapi-generator's java. */
public class Pay {
  private static String key() {
    return UUID.randomUUID().toString();
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("BASE_URL"));
    client.setBearerToken(System.getenv("API_KEY"));
    client.setSslCaCert(new FileInputStream(System.getenv("CA_FILE")));
    TransactionsApi transactions = new TransactionsApi(client);

    CreateTransactionRequest payment = CreateTransactionRequest.fromJson(System.getenv("PAYMENT"));
    TokenTransferTransaction created = transferOf(transactions.createTransaction(key(), payment));
    String payload =
        ((InitiatorPayload) created.getSigningPayloads().getActualInstance()).getInitiatorPayload();
    Credentials wallet = Credentials.create(System.getenv("PRIVATE_KEY"));
    Sign.SignatureData signed = Sign.signTypedData(payload, wallet.getEcKeyPair());
    String bytes =
        Numeric.toHexString(signed.getR())
            + Numeric.toHexStringNoPrefix(signed.getS())
            + Numeric.toHexStringNoPrefix(signed.getV());
    String signature =
        "0x"
            + new DefaultFunctionEncoder()
                .encodeParameters(
                    List.of(
                        new Address(wallet.getAddress()),
                        new DynamicBytes(Numeric.hexStringToByteArray(bytes))));
    String id = created.getId();
    transactions.signTransaction(
        id,
        key(),
        new SignTransactionRequest().type(TransactionSignatureType.INITIATOR).signature(signature));
    ExecuteRequest approval = new ExecuteRequest().type(VoteType.APPROVE);
    TokenTransferTransaction paid =
        transferOf(transactions.executeTransaction(id, key(), approval));
    while (paid.getExecutionStatus() == ExecutionStatus.PROCESSING) {
      Thread.sleep(1_000);
      paid = transferOf(transactions.getTransaction(id));
    }
    System.out.println(paid.getId() + " " + paid.getExecutionStatus());
    System.out.println(
        new ProposalsApi(client).listProposals(null, null, null, null, null, null, null, null, null, null, null, null).getData().stream()
                .map(Pay::kindOf)
                .sorted()
                .collect(Collectors.joining(" ")));
  }

  private static TokenTransferTransaction transferOf(TransactionResponse response) {
    return response.getData().getTokenTransferTransaction();
  }

  private static String kindOf(Proposal proposal) {
    return JsonParser.parseString(proposal.toJson()).getAsJsonObject().get("kind").getAsString();
  }
}
