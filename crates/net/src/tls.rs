//! TLS: ring as the provider, and root certificates that load when they are first needed.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::{NetError, Roots};

static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(ring::default_provider()));

static PLATFORM: LazyLock<Arc<LateVerifier>> =
    LazyLock::new(|| Arc::new(LateVerifier::new(load_platform_roots)));

/// Makes ring the process-wide provider of rustls, for libraries that ask for one. Once is enough
/// and more do no harm; a provider that someone else installed stays. Our own clients do not
/// depend on it.
pub fn install_provider() {
    // An error only says that there is one already.
    let _already = ring::default_provider().install_default();
}

/// A TLS configuration that offers HTTP/2 and HTTP/1.1 and trusts `roots`.
pub(crate) fn config(roots: Roots) -> Result<ClientConfig, NetError> {
    let builder = ClientConfig::builder_with_provider(PROVIDER.clone())
        .with_safe_default_protocol_versions()
        .map_err(NetError::TlsSetup)?;
    let mut config = match roots {
        Roots::Platform => builder
            .dangerous()
            .with_custom_certificate_verifier(PLATFORM.clone())
            .with_no_client_auth(),
        Roots::Only(certificates) => {
            let mut store = RootCertStore::empty();
            for certificate in certificates {
                store.add(certificate).map_err(NetError::TlsSetup)?;
            }
            builder.with_root_certificates(store).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

type Load = fn() -> Result<Arc<dyn ServerCertVerifier>, Error>;

fn load_platform_roots() -> Result<Arc<dyn ServerCertVerifier>, Error> {
    match Verifier::new(PROVIDER.clone()) {
        Ok(verifier) => Ok(Arc::new(verifier)),
        Err(error) => Err(Error::General(format!(
            "no root certificates on this system (install the ca-certificates package): {error}"
        ))),
    }
}

/// The verifier it loads at the first handshake. Until then a client costs no file access, and
/// plain `http` needs no certificates at all. A failure to load is not remembered.
struct LateVerifier {
    load: Load,
    loaded: OnceLock<Arc<dyn ServerCertVerifier>>,
}

impl LateVerifier {
    fn new(load: Load) -> Self {
        Self {
            load,
            loaded: OnceLock::new(),
        }
    }

    fn loaded(&self) -> Result<&Arc<dyn ServerCertVerifier>, Error> {
        if let Some(verifier) = self.loaded.get() {
            return Ok(verifier);
        }
        let verifier = (self.load)()?;
        Ok(self.loaded.get_or_init(|| verifier))
    }
}

impl fmt::Debug for LateVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateVerifier")
    }
}

impl ServerCertVerifier for LateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.loaded()?.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.loaded()?
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.loaded()?
            .verify_tls13_signature(message, certificate, signature)
    }

    /// Asked before there is a certificate to verify, so answered without loading: the schemes
    /// are the provider's, whatever the roots.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustls::client::WebPkiServerVerifier;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    const CA: &[u8] = include_bytes!("../tests/net/fixtures/ca.pem");
    const SERVER: &[u8] = include_bytes!("../tests/net/fixtures/server.pem");

    fn certificate(pem: &[u8]) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem).unwrap()
    }

    fn verify(verifier: &LateVerifier, name: &'static str) -> Result<(), Error> {
        verifier
            .verify_server_cert(
                &certificate(SERVER),
                &[],
                &ServerName::try_from(name).unwrap(),
                &[],
                UnixTime::now(),
            )
            .map(|_| ())
    }

    fn test_roots() -> Result<Arc<dyn ServerCertVerifier>, Error> {
        let mut store = RootCertStore::empty();
        store.add(certificate(CA))?;
        WebPkiServerVerifier::builder_with_provider(store.into(), PROVIDER.clone())
            .build()
            .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
            .map_err(|error| Error::General(error.to_string()))
    }

    #[test]
    fn what_is_loaded_late_still_verifies_chain_and_name() {
        let verifier = LateVerifier::new(test_roots);
        assert_eq!(verify(&verifier, "localhost"), Ok(()));
        assert!(matches!(
            verify(&verifier, "example.com"),
            Err(Error::InvalidCertificate(_))
        ));
    }

    #[test]
    fn a_failure_to_load_is_told_and_not_remembered() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let verifier = LateVerifier::new(|| match CALLS.fetch_add(1, Ordering::SeqCst) {
            0 => Err(Error::General("no root certificates".into())),
            _ => test_roots(),
        });
        assert_eq!(
            verify(&verifier, "localhost"),
            Err(Error::General("no root certificates".into()))
        );
        assert_eq!(verify(&verifier, "localhost"), Ok(()));
        assert_eq!(verify(&verifier, "localhost"), Ok(()));
        assert_eq!(CALLS.load(Ordering::SeqCst), 2, "loaded once it could be");
    }

    #[test]
    fn the_platform_does_not_vouch_for_a_stranger() {
        assert!(verify(&PLATFORM, "localhost").is_err());
    }

    #[test]
    fn the_provider_can_be_installed_twice() {
        install_provider();
        install_provider();
        assert!(CryptoProvider::get_default().is_some());
    }
}
